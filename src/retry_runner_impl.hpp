// What a runner is made of: a membership, its partitions, and the records in the hands of its handler.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "broker_impl.hpp"
#include "dead_letter_log.hpp"
#include "group_member.hpp"
#include "idle_wait.hpp"
#include "in_flight.hpp"
#include "platform/fork_guard.hpp"
#include "poll_batch.hpp"
#include "retry_partition.hpp"
#include "ringmain/retry.hpp"
#include "use_guard.hpp"
#include "work_files.hpp"

namespace ringmain {

/// One thread at a time; handlers run where `runs` runs them (see InFlight).
class RetryRunner::Impl : private GroupMember::Listener {
public:
    using Stop = std::function<bool()>;

    Impl(std::shared_ptr<Broker::Impl> broker, std::string_view topic, const GroupOptions& group,
         const RetryOptions& options, Runs runs = {}, std::size_t max_in_flight = 1);
    ~Impl() override;
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;

    RunResult run_once(const RetryHandler& handler, std::chrono::nanoseconds timeout, const Stop& stop = {});
    /// `sleep_max`: how often `stop` is asked while there is nothing; see wake.
    RunResult run(const RetryHandler& handler, const Stop& stop, const std::function<void(const RunResult&)>& each,
                  std::chrono::nanoseconds sleep_max);
    /// Ends a sleep; any thread.
    void wake() const noexcept { flight_.poke(); }
    /// Waits for what is in flight, which is then committed.
    void close() noexcept;
    /// Of the last call, or of close.
    [[nodiscard]] const RunCounts& last_counts() const noexcept { return news_.counts; }

    [[nodiscard]] const std::string& topic() const noexcept { return topic_->name(); }
    [[nodiscard]] const std::string& group() const noexcept { return group_.name; }
    [[nodiscard]] const RetryOptions& options() const noexcept { return options_; }
    [[nodiscard]] std::span<const std::uint32_t> partitions() const noexcept { return held_; }
    /// Why the caller's threads took no more; empty: they do.
    [[nodiscard]] const std::string& refusal() const noexcept { return flight_.refusal(); }

private:
    using Partitions = GroupMember::Partitions;

    void assigned(const GroupMember& member, Partitions partitions) override;
    void revoked(const GroupMember& member, Partitions partitions) override;
    void lost(const GroupMember& member, Partitions partitions) override;
    void let_go(const GroupMember& member, Partitions partitions) override;
    void notify(const GroupListener::Call& listener, Partitions partitions);
    void forget(Partitions partitions);

    void begin_call() noexcept;
    [[nodiscard]] RunResult result();
    /// True: something was done or found.
    [[nodiscard]] bool look_once(const RetryHandler& handler, const Stop& stop);
    void keep_up();
    [[nodiscard]] bool hand_out(const RetryHandler& handler, const Stop& stop);
    std::size_t collect();
    void commit(Partitions partitions);
    void drain(Partitions partitions);
    void fail(std::uint32_t partition, Status status);
    void wait_and_look(const RetryHandler& handler, const Stop& stop, std::chrono::nanoseconds timeout);
    void sleep(const Stop& stop, std::chrono::nanoseconds left);

    std::shared_ptr<Broker::Impl> broker_;
    platform::ForkGuard fork_guard_;  // the broker's
    std::shared_ptr<const TopicFiles> topic_;
    GroupOptions group_;
    WorkFiles files_;
    RetryOptions options_;
    RetryPolicy policy_;
    DeadLetterLogs letters_;
    RetryPartition::News news_;
    std::optional<GroupMember> member_;
    OnLoss on_loss_ = OnLoss::error;
    std::vector<std::unique_ptr<RetryPartition>> parts_;  // by partition
    std::vector<std::uint32_t> held_;
    std::size_t turn_ = 0;  // whose turn it is
    InFlight<RetryTask> flight_;
    PollBatch nothing_{1};
    bool closed_ = false;
    Status status_ = Status::ok;
    std::vector<PartitionFailure> failures_;
    std::vector<StoppedPartition> stopped_;
    UseFlag use_;
};

}  // namespace ringmain
