// The keeper: holds the lock, knows clients and topics, and lets each topic do a step.
#include "ringmain/keeper.hpp"

#include <mutex>
#include <utility>

#include "broker_impl.hpp"
#include "client_watch.hpp"
#include "keeper_claim.hpp"
#include "keeper_pace.hpp"
#include "keeper_step.hpp"
#include "kept_topics.hpp"
#include "platform/clock.hpp"
#include "step_meter.hpp"

namespace ringmain {

class Keeper::Impl {
public:
    Impl(std::shared_ptr<Broker::Impl> broker, KeeperEvents::Listener listener)
        : broker_(std::move(broker)),
          events_(std::move(listener)),
          claim_(broker_->directory(), broker_->clients().identity()),
          keeping_(*broker_),
          clients_(broker_->clients()),
          topics_(broker_, platform::DirectoryWatch::open()) {
        if (topics_.descriptor() >= 0) clients_.add(topics_.descriptor());
    }

    KeeperReport do_work(std::int64_t now_ns) {
        KeeperReport report;
        if (broker_->fork_guard().forked()) return report;
        const std::int64_t from_ns = platform::monotonic_ns();
        bool active = false;
        try {
            active = keep(now_ns, report);
        } catch (...) {
            // out of memory or of rights: the next step tries again
        }
        measure(from_ns, active);
        return report;
    }

    /// Until a client ends, names change, interrupt(), or it is time for the next step.
    void pause(std::chrono::nanoseconds interval) noexcept { clients_.wait(pace_.pause(interval)); }
    void interrupt() noexcept { clients_.interrupt(); }

    [[nodiscard]] KeeperStatistics statistics() const {
        const std::lock_guard lock(mutex_);
        KeeperStatistics now = statistics_;
        now.longest_step_of_minute = std::chrono::nanoseconds(meter_.longest_of_minute_ns(platform::monotonic_ns()));
        return now;
    }

private:
    /// True: there was something to do, or something had changed.
    bool keep(std::int64_t now_ns, KeeperReport& report) {
        const bool directory_changed = topics_.listen();
        if (!claim_.look(now_ns, directory_changed, events_)) {
            pace_.note(now_ns, false, kNothingDue);
            return false;
        }
        const std::uint64_t deaths = clients_.deaths();
        clients_.look(now_ns);
        const DeathOracle is_dead(broker_->clients());
        KeeperStep step{now_ns, broker_->clients(), is_dead, clients_.deaths(), report, events_};
        step.changed = deaths != clients_.deaths();
        topics_.step(step);
        const bool active = step.changed || !report.idle() || report.expired_records != 0;
        pace_.note(now_ns, active, step.due_ns);
        return active;
    }

    void measure(std::int64_t from_ns, bool active) {
        const std::int64_t end_ns = platform::monotonic_ns();
        const std::lock_guard lock(mutex_);
        meter_.add(end_ns, end_ns - from_ns);
        ++statistics_.steps;
        statistics_.idle_steps += active ? 0 : 1;
        statistics_.last_step = std::chrono::nanoseconds(meter_.last_ns());
        statistics_.longest_step = std::chrono::nanoseconds(meter_.longest_ns());
        statistics_.last_step_at = std::chrono::steady_clock::now();
        statistics_.topics = topics_.size();
        statistics_.partitions = topics_.partitions();
        statistics_.unreadable_topics = topics_.unreadable();
        statistics_.unreadable_partitions = topics_.unreadable_partitions();
        statistics_.clients = clients_.alive();
        statistics_.watched_clients = clients_.watched();
        statistics_.keeping = claim_.keeping();
    }

    std::shared_ptr<Broker::Impl> broker_;
    KeeperEvents events_;
    KeeperClaim claim_;
    Broker::Impl::Keeping keeping_;  // after the claim, so that it ends before it
    ClientWatch clients_;
    KeptTopics topics_;
    KeeperPace pace_;
    mutable std::mutex mutex_;  // guards what other threads may ask for
    StepMeter meter_;
    KeeperStatistics statistics_;
};

Keeper::Keeper(const Broker& broker) : Keeper(broker, {}) {}
Keeper::Keeper(const Broker& broker, std::function<void(const KeeperEvent&)> listener)
    : impl_(std::make_unique<Impl>(broker.impl(), std::move(listener))) {}
Keeper::Keeper(Keeper&&) noexcept = default;
Keeper& Keeper::operator=(Keeper&&) noexcept = default;
Keeper::~Keeper() = default;

KeeperReport Keeper::do_work(std::chrono::nanoseconds now) noexcept { return impl_->do_work(now.count()); }

void Keeper::run(std::stop_token stop, std::chrono::milliseconds interval) {
    const std::stop_callback wake(stop, [this] { impl_->interrupt(); });
    while (!stop.stop_requested()) {
        const KeeperReport report = do_work(std::chrono::nanoseconds(platform::monotonic_ns()));
        if (report.idle()) impl_->pause(interval);
    }
}

KeeperStatistics Keeper::statistics() const { return impl_->statistics(); }

}  // namespace ringmain
