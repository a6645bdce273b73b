// The keeper: holds the lock, knows the topics, and lets each partition's keeper do a step.
#include "ringmain/keeper.hpp"

#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "broker_impl.hpp"
#include "death_oracle.hpp"
#include "error_about.hpp"
#include "group_table/listing.hpp"
#include "keeper_step.hpp"
#include "partition_keeper.hpp"
#include "platform/clock.hpp"
#include "platform/file_lock.hpp"
#include "platform/files.hpp"
#include "platform/futex.hpp"
#include "platform/process.hpp"
#include "platform/process_watch.hpp"
#include "recovery/group_upkeep.hpp"

namespace ringmain {

namespace {

constexpr std::uint64_t kKeeperLockAt = 0;
constexpr std::int64_t kTopicsRefreshNs = 250'000'000;

std::string pid_in(const std::filesystem::path& file) {
    std::string pid;
    std::ifstream(file) >> pid;
    return pid.empty() ? "an unknown pid" : "pid " + pid;
}

}  // namespace

class Keeper::Impl {
public:
    Impl(std::shared_ptr<Broker::Impl> broker, KeeperEvents::Listener listener)
        : broker_(std::move(broker)), events_(std::move(listener)), lock_file_(broker_->directory() / "keeper.lock"), lock_(lock_file_) {
        if (!lock_.try_lock(kKeeperLockAt)) {
            throw error_about(ErrorCode::busy, lock_file_.string(), "is held: another keeper runs for this directory, " + pid_in(lock_file_));
        }
        platform::replace_text(lock_file_, std::to_string(platform::this_process().pid) + "\n");
    }

    KeeperReport do_work(std::int64_t now_ns) {
        KeeperReport report;
        if (broker_->fork_guard().forked()) return report;
        if (!refreshed_ || now_ns - refreshed_ns_ >= kTopicsRefreshNs || now_ns < refreshed_ns_) {
            refreshed_ = true;
            refreshed_ns_ = now_ns;
            refresh_topics(report);
        }
        const DeathOracle is_dead(broker_->clients());
        KeeperStep step{now_ns, broker_->clients(), is_dead, report, events_};
        for (auto& [name, topic] : topics_) {
            for (PartitionKeeper& partition : topic.partitions) partition.step(step);
            keep_groups(topic, step);
        }
        watch_members();
        return report;
    }

    /// Until a member of a group ends, interrupt(), or the time-out.
    void wait(std::chrono::nanoseconds timeout) noexcept { watch_.wait(timeout); }
    void interrupt() noexcept { watch_.interrupt(); }

private:
    struct Topic {
        std::shared_ptr<const TopicFiles> files;
        std::vector<PartitionKeeper> partitions;
        recovery::GroupKeeper<platform::HostMemory> groups;
    };

    static void keep_groups(Topic& topic, KeeperStep& step) {
        if (!topic.files->groups_writable()) return;
        const auto told = [&](std::uint32_t slot, std::uint64_t count) {
            step.events.tell([&] {
                const std::string group = group_table::name_of(topic.files->groups(), slot);
                return KeeperEvent{KeeperEventKind::member_evicted, topic.files->name(), {}, group, count};
            });
        };
        const recovery::GroupUpkeep done = topic.groups.step(step.is_dead, static_cast<std::uint64_t>(step.now_ns), told);
        step.report.evicted_members += done.evicted_members;
        step.report.freed_member_slots += done.freed_member_slots;
        step.report.swept_groups += done.swept_groups;
        if (done.evicted_members == 0) return;
        // members that wait for a partition need not sleep on
        const auto& groups = topic.files->groups();
        for (std::uint32_t slot = 0; slot < groups.groups_max(); ++slot) platform::futex_wake_all(groups.group(slot).wake);
    }

    /// A partition waits for its dead owner only as long as nobody looks.
    void watch_members() {
        std::uint64_t epochs = topics_.size();
        for (const auto& [name, topic] : topics_) epochs += topic.groups.epochs();
        if (epochs == watched_epochs_) return;
        watched_epochs_ = epochs;
        std::vector<std::uint32_t> pids;
        for (const auto& [name, topic] : topics_) {
            topic.groups.for_each_member([&](std::uint64_t client) {
                const ClientDescription member = broker_->clients().describe(layout::ClientId::from_word(client));
                if (member.state == ClientState::alive && member.pid != 0) pids.push_back(member.pid);
            });
        }
        watch_.watch(pids);
    }

    /// Lets go of topics that were deleted, sweeps, and takes up topics that are new. Those that are open already cost
    /// one load each.
    void refresh_topics(KeeperReport& report) {
        std::erase_if(topics_, [](const auto& entry) { return entry.second.files->deleted(); });
        const auto is_open = [this](const std::string& name) { return topics_.contains(name); };
        report.swept_directories += broker_->sweep_leftovers(is_open);
        for (const std::string& name : broker_->list_topics(is_open)) take_up(name);
    }

    /// A topic that cannot be opened (damaged, other layout, just deleted) does not stop the others; verify reports it.
    void take_up(const std::string& name) {
        try {
            const auto files = broker_->open_topic(name);
            Topic topic{files, {}, recovery::GroupKeeper<platform::HostMemory>(files->groups())};
            for (std::uint32_t p = 0; p < files->options().partitions; ++p) topic.partitions.emplace_back(*files, p);
            topics_.emplace(name, std::move(topic));
        } catch (const Error&) {
        }
    }

    std::shared_ptr<Broker::Impl> broker_;
    KeeperEvents events_;
    std::filesystem::path lock_file_;
    platform::FileLock lock_;
    bool refreshed_ = false;
    std::int64_t refreshed_ns_ = 0;
    std::map<std::string, Topic> topics_;
    platform::ProcessWatch watch_;
    std::uint64_t watched_epochs_ = 0;
};

Keeper::Keeper(const Broker& broker) : Keeper(broker, {}) {}
Keeper::Keeper(const Broker& broker, std::function<void(const KeeperEvent&)> listener)
    : impl_(std::make_unique<Impl>(broker.impl(), std::move(listener))) {}
Keeper::Keeper(Keeper&&) noexcept = default;
Keeper& Keeper::operator=(Keeper&&) noexcept = default;
Keeper::~Keeper() = default;

KeeperReport Keeper::do_work(std::chrono::nanoseconds now) noexcept {
    try {
        return impl_->do_work(now.count());
    } catch (...) {
        return {};  // out of memory or of rights: the next step tries again
    }
}

void Keeper::run(std::stop_token stop, std::chrono::milliseconds interval) {
    const std::stop_callback wake(stop, [this] { impl_->interrupt(); });
    while (!stop.stop_requested()) {
        const KeeperReport report = do_work(std::chrono::nanoseconds(platform::monotonic_ns()));
        if (report.idle()) impl_->wait(interval);
    }
}

}  // namespace ringmain
