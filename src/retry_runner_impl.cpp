// Running handlers over the records of a member's partitions, and committing what is finished.
#include "retry_runner_impl.hpp"

#include <algorithm>
#include <utility>

#include "dead_letter_topic.hpp"
#include "doorbell_sleep.hpp"
#include "error_about.hpp"
#include "group_options_check.hpp"
#include "platform/clock.hpp"
#include "retry_group.hpp"
#include "retry_options.hpp"

namespace ringmain {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t kShare = 16;                   // records of one partition, before it is another's turn
constexpr std::size_t kBatchMax = 256;               // records of one call
constexpr std::chrono::nanoseconds kCallMax = 50ms;  // how long a call goes on handing out
constexpr std::chrono::nanoseconds kTroubleWait = 20ms;

GroupOptions committing_itself(const GroupOptions& group) {
    GroupOptions options = group;
    options.delivery = Delivery::manual;  // of the membership: what is finished is known here alone
    return options;
}

const RetryOptions& checked(std::string_view topic, const GroupOptions& group, const RetryOptions& options) {
    check_group_options(group);
    check_retry_options(topic, group, options);
    return options;
}

bool is_something(const RunCounts& counts) noexcept {
    return (counts.handled | counts.succeeded | counts.failed | counts.dead_lettered | counts.skipped | counts.died |
            counts.late | counts.lost) != 0;
}

/// Tells results that say something from those that say what the one before has said: what stands still does so in
/// every one.
class Novelty {
public:
    bool is_in(const RunResult& result) {
        const bool moved = result.status != status_ || !std::equal(result.stopped.begin(), result.stopped.end(),
                                                                   stopped_.begin(), stopped_.end(), same);
        status_ = result.status;
        stopped_.clear();
        for (const StoppedPartition& one : result.stopped)
            stopped_.push_back({one.partition, one.why, one.offset});
        return moved || is_something(result.counts) || !result.gaps.empty() || !result.failures.empty();
    }

private:
    struct Stop {
        std::uint32_t partition = 0;
        StopReason why = StopReason::exhausted;
        std::uint64_t offset = 0;
    };
    static bool same(const StoppedPartition& now, const Stop& before) noexcept {
        return now.partition == before.partition && now.why == before.why && now.offset == before.offset;
    }
    Status status_ = Status::ok;
    std::vector<Stop> stopped_;
};

}  // namespace

RetryRunner::Impl::Impl(std::shared_ptr<Broker::Impl> broker, std::string_view topic, const GroupOptions& group,
                        const RetryOptions& options, Runs runs, std::size_t max_in_flight)
    : broker_(std::move(broker)),
      fork_guard_(broker_->fork_guard()),
      topic_(broker_->open_topic(topic)),
      group_(committing_itself(group)),
      files_(provide_retries(broker_, topic_, group, checked(topic, group, options))),
      options_(with_settings(options, files_.settings())),
      policy_{files_.rules(), options_.exhausted == Exhausted::stop, options_.order, options_.waiting_max, 0},
      letters_(broker_, topic_, group_.name, dead_letter_topic_of(files_.settings())),
      flight_(std::move(runs), max_in_flight) {
    policy_.patience_ticks = static_cast<std::uint64_t>(options.patience.count()) * platform::ticks_per_us() / 1000;
    member_.emplace(broker_, topic_, group_, GroupMember::Role::member, static_cast<GroupMember::Listener&>(*this));
    try {
        const std::uint32_t partitions = topic_->options().partitions;
        on_loss_ = member_->on_loss();
        for (std::uint32_t p = 0; p < partitions; ++p)
            parts_.push_back(std::make_unique<RetryPartition>(files_, member_->cursor(p), letters_, policy_, news_));
        held_.reserve(partitions);
        failures_.reserve(partitions + 1);
        stopped_.reserve(partitions);
    } catch (...) {
        member_->leave(false);
        throw;
    }
}

RetryRunner::Impl::~Impl() {
    if (!fork_guard_.forked())
        close();
}

// --- partitions that come and go ---

void RetryRunner::Impl::assigned(const GroupMember& member, Partitions partitions) {
    for (const std::uint32_t p : partitions) {
        parts_[p]->begin_tenure({member.generation(p), member.slot(), member.cursor(p)->position(), on_loss_});
        held_.push_back(p);
    }
    notify(group_.listener.assigned, partitions);
}

/// Handlers that run are waited for, so that the next owner finds no attempt without an end.
void RetryRunner::Impl::revoked(const GroupMember&, Partitions partitions) {
    drain(partitions);
    notify(group_.listener.revoked, partitions);
    commit(partitions);
    forget(partitions);
}

void RetryRunner::Impl::lost(const GroupMember&, Partitions partitions) {
    forget(partitions);
    notify(group_.listener.lost, partitions);
}

void RetryRunner::Impl::let_go(const GroupMember&, Partitions partitions) {
    notify(group_.listener.let_go, partitions);
}

void RetryRunner::Impl::notify(const GroupListener::Call& listener, Partitions partitions) {
    if (!listener)
        return;
    std::vector<TopicPartition> named;
    for (const std::uint32_t p : partitions)
        named.push_back({topic_->name(), p});
    listener(named);
}

void RetryRunner::Impl::forget(Partitions partitions) {
    for (const std::uint32_t p : partitions) {
        parts_[p]->end_tenure();
        std::erase(held_, p);
    }
    turn_ = 0;
}

void RetryRunner::Impl::drain(Partitions partitions) {
    const auto until = std::chrono::steady_clock::now() + group_.session_timeout / 2;
    const auto in_hand = [&] {
        return std::any_of(partitions.begin(), partitions.end(),
                           [&](std::uint32_t p) { return parts_[p]->in_hand() != 0; });
    };
    while (in_hand() && std::chrono::steady_clock::now() < until) {
        (void)flight_.wait(10ms);
        collect();
    }
}

// --- one call ---

RunResult RetryRunner::Impl::run_once(const RetryHandler& handler, std::chrono::nanoseconds timeout, const Stop& stop) {
    const UseScope scope(use_);
    if (!scope.entered())
        return {Status::misuse, {}, {}, {}, {}};
    if (fork_guard_.forked())
        return {Status::forked, {}, {}, {}, {}};
    if (closed_)
        return {Status::no_group, {}, {}, {}, {}};
    begin_call();
    if (!look_once(handler, stop) && timeout.count() > 0)
        wait_and_look(handler, stop, timeout);
    return result();
}

RunResult RetryRunner::Impl::run(const RetryHandler& handler, const Stop& stop,
                                 const std::function<void(const RunResult&)>& each,
                                 std::chrono::nanoseconds sleep_max) {
    RunCounts all;
    RunResult last;
    Novelty novelty;
    const auto ends = [](Status status) {
        return status == Status::fenced_instance || status == Status::group_deleted ||
               status == Status::topic_deleted || status == Status::forked || status == Status::misuse ||
               status == Status::no_group;
    };
    while (!stop() && !ends(last.status) && refusal().empty()) {
        last = run_once(handler, sleep_max, stop);
        all += last.counts;
        if (novelty.is_in(last) && each)
            each(last);
        if (last.status != Status::ok)
            (void)flight_.wait(std::min(sleep_max, kTroubleWait));  // what is damaged stays so: no hurry
    }
    last.counts = all;
    return last;
}

void RetryRunner::Impl::begin_call() noexcept {
    news_.counts = {};
    news_.gaps.clear();
    failures_.clear();
    status_ = Status::ok;
}

RunResult RetryRunner::Impl::result() {
    stopped_.clear();
    for (const std::uint32_t p : held_) {
        if (const auto stopped = parts_[p]->stopped())
            stopped_.push_back(*stopped);
    }
    return {status_, news_.counts, news_.gaps, stopped_, failures_};
}

bool RetryRunner::Impl::look_once(const RetryHandler& handler, const Stop& stop) {
    keep_up();
    bool done = collect() != 0;
    done = hand_out(handler, stop) || done;
    done = collect() != 0 || done;
    commit(held_);
    return done || status_ != Status::ok || !news_.gaps.empty();
}

void RetryRunner::Impl::keep_up() {
    const Status status = member_->keep_up();
    if (status != Status::ok)
        fail(kWholeTopic, status);
}

void RetryRunner::Impl::fail(std::uint32_t partition, Status status) {
    status_ = status;
    const bool known =
        std::any_of(failures_.begin(), failures_.end(), [&](const auto& one) { return one.partition == partition; });
    if (!known)
        failures_.push_back({topic_->name(), partition, status});
}

bool RetryRunner::Impl::hand_out(const RetryHandler& handler, const Stop& stop) {
    const std::int64_t until =
        platform::monotonic_ns() + std::min(kCallMax, std::chrono::nanoseconds(group_.session_timeout) / 16).count();
    std::size_t started = 0;
    const auto enough = [&] {
        return flight_.room() == 0 || started >= kBatchMax || (stop && stop()) ||
               (started != 0 && platform::monotonic_ns() >= until);
    };
    for (bool more = !held_.empty(); more;) {
        more = false;
        for (std::size_t i = 0; i < held_.size(); ++i) {
            RetryPartition& part = *parts_[held_[(turn_ + i) % held_.size()]];
            for (std::size_t n = 0; n < kShare && !enough(); ++n) {
                auto task = flight_.spare();
                if (!part.next(*task, retry_time_now())) {
                    flight_.give_back_spare(std::move(task));
                    break;
                }
                more = true;
                ++started;
                flight_.start(std::move(task), handler);
                if (!flight_.elsewhere())
                    collect();
            }
            if (part.status() != Status::ok)
                fail(part.cursor().partition(), part.status());
        }
        if (enough())
            break;
    }
    if (!held_.empty())
        turn_ = (turn_ + 1) % held_.size();
    return started != 0;
}

std::size_t RetryRunner::Impl::collect() {
    const RetryTime now = retry_time_now();
    return flight_.collect([&](const InFlight<RetryTask>::Done& done) {
        RetryPartition& part = *parts_[done.task->partition];
        if (done.handled) {
            part.answer(*done.task, *done.handled, now);
        } else {
            part.give_back(*done.task, now);
        }
    });
}

void RetryRunner::Impl::commit(Partitions partitions) {
    member_->begin_commit();
    for (const std::uint32_t p : partitions) {
        RetryPartition& part = *parts_[p];
        if (!part.held())
            continue;
        if (part.cursor().position() != part.position())
            (void)part.cursor().seek(Position::at(part.position()));
        if (part.finished() > part.start())
            member_->add_to_commit(p, part.finished());
    }
    (void)member_->allows();  // each by itself: what another one's partition is refused is no reason here
    (void)member_->apply();
    for (const group_table::CommitItem& item : member_->items()) {
        RetryPartition& part = *parts_[item.tenure.partition];
        if (item.status == group_table::CommitStatus::committed || item.status == group_table::CommitStatus::stale)
            part.committed(item.committed);
    }
    member_->check_delivered(nothing_, false);
}

// --- waiting ---

void RetryRunner::Impl::wait_and_look(const RetryHandler& handler, const Stop& stop, std::chrono::nanoseconds timeout) {
    IdleWait idle(options_.wait, timeout);
    for (;;) {
        const IdleWait::Next next = idle.next();
        if (next == IdleWait::Next::sleep)
            sleep(stop, std::chrono::nanoseconds(idle.left_ns()));
        if (look_once(handler, stop) || next == IdleWait::Next::stop || (stop && stop()))
            return;
    }
}

void RetryRunner::Impl::sleep(const Stop& stop, std::chrono::nanoseconds left) {
    letters_.rest_when_unused();
    DoorbellSleep sleep;
    sleep.add(member_->wake_word());
    sleep.add(flight_.word());
    if (stop && stop())
        return;  // behind the word, which a wake changes
    left = std::min(left, std::chrono::nanoseconds(member_->sleep_max_ns()));
    for (const std::uint32_t p : held_)
        sleep.add(parts_[p]->cursor());
    sleep.fence();
    if (flight_.wait(0ns))
        return;
    const RetryTime now = retry_time_now();
    for (const std::uint32_t p : held_) {
        const RetryPartition& part = *parts_[p];
        if (flight_.room() == 0)
            continue;
        if (part.ready() || parts_[p]->cursor().deleted())
            return;
        if (part.held_up())
            left = std::min(left, options_.patience);
        if (const auto due = part.due_in_ms(now))
            left = std::min(left, std::chrono::nanoseconds(std::chrono::milliseconds(*due)));
    }
    if (left.count() > 0)
        sleep.sleep(left);
}

void RetryRunner::Impl::close() noexcept {
    if (closed_ || !member_)
        return;
    closed_ = true;
    begin_call();
    flight_.call_no_more();
    while (flight_.size() != 0) {
        if (!flight_.wait(100ms))
            (void)member_->keep_up();  // a member to the end
        collect();
    }
    commit(held_);
    member_->tell_leaving();
    member_->leave(false);
    forget(std::vector<std::uint32_t>(held_));
}

}  // namespace ringmain
