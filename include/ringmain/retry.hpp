// Streams whose records are tried again when they fail: a member of a group that calls a handler for each record.
//
// Success finishes the record. A failure is tried again after a growing wait, up to a number of attempts; then a copy
// goes to the dead-letter topic, once, and only then is the record finished. What is committed never passes an
// unfinished record. How often a record was tried is written down before its handler is called: a record that kills its
// handler is tried no more often.
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "ringmain/broker.hpp"
#include "ringmain/consumer.hpp"
#include "ringmain/export.hpp"
#include "ringmain/group.hpp"
#include "ringmain/record.hpp"
#include "ringmain/retry_policy.hpp"
#include "ringmain/status.hpp"

namespace ringmain {

/// Limits of retries.
inline constexpr std::uint32_t kRetryAttemptsMax = 30;
inline constexpr std::uint32_t kRetryWaitingMax = 1'000'000;

/// Who waits for a record that is to be tried again.
enum class RetryOrder : std::uint8_t {
    partition,  ///< All later ones of its partition: handled strictly in order.
    key,   ///< Later ones with its key; others go on. Records without a key have no order to keep and wait for nobody.
    none,  ///< Nobody.
};
RINGMAIN_API std::string_view to_string(RetryOrder order) noexcept;

struct RetryOptions {
    // The group's own: decided by its first runner, and stored. A later one that wants something else is refused
    // (mismatch).
    std::uint32_t attempts = 5;  ///< Of each record: 1 to kRetryAttemptsMax.
    Backoff backoff = {};
    /// What becomes of a record whose last attempt failed, or that is rejected. Without dead letters one of the others
    /// is to be chosen: skip (finished, and counted), or stop (its partition stops until the group is moved there, see
    /// GroupAdmin).
    Exhausted exhausted = Exhausted::dead_letter;
    std::string dead_letter_topic = {};  ///< Empty: the topic's name + ".dlq". Created if it does not exist.

    // The runner's own.
    RetryOrder order = RetryOrder::partition;
    /// Records of one partition that wait or are in hand, at most: 1 to kRetryWaitingMax. With so many the partition
    /// waits.
    std::uint32_t waiting_max = 1'000;
    WaitStrategy wait = WaitStrategy::block;
    std::chrono::nanoseconds patience = std::chrono::microseconds(50);  ///< As ConsumerOptions::patience.
};

/// What the handler is told of the attempt.
struct Attempt {
    std::uint32_t number = 1;  ///< This one: from 1.
    std::uint32_t of = 1;      ///< The last one that there will be. 0: there is no limit (queues).
    /// The attempt before never ended: its process died, or lost the partition while it was at it. Its effects may be
    /// there, and if it was only stopped they may still come.
    bool after_death = false;
};

/// What a handler says of a record.
class [[nodiscard]] Handled {
public:
    enum class What : std::uint8_t { success, failure, rejected };

    Handled() = default;  ///< Success.
    static Handled success() { return {}; }
    /// To be tried again, if an attempt is left. The text goes into the dead letter.
    static Handled failure(std::string error = {}) { return {What::failure, std::move(error)}; }
    /// It can never be handled: no attempt more.
    static Handled rejected(std::string error = {}) { return {What::rejected, std::move(error)}; }

    [[nodiscard]] What what() const noexcept { return what_; }
    [[nodiscard]] const std::string& error() const noexcept { return error_; }

private:
    Handled(What what, std::string error) : what_(what), error_(std::move(error)) {}
    What what_ = What::success;
    std::string error_;
};

/// What is called for each record: takes (record, attempt) or only the record, answers Handled or nothing (success).
/// What it throws is a failure, with the text of the exception. The record's views live as long as the call.
class RetryHandler {
public:
    template <class Handler>
    requires(!std::same_as<std::remove_cvref_t<Handler>, RetryHandler>) RetryHandler(Handler handler)
        : call_(
              [handler = std::move(handler)](const ConsumerRecord& record, const Attempt& attempt) mutable -> Handled {
                  if constexpr (std::is_invocable_v<Handler&, const ConsumerRecord&, const Attempt&>) {
                      return answer([&] { return handler(record, attempt); });
                  } else {
                      (void)attempt;
                      return answer([&] { return handler(record); });
                  }
              }) {}

    Handled operator()(const ConsumerRecord& record, const Attempt& attempt) const { return call_(record, attempt); }

private:
    template <class Call>
    static Handled answer(const Call& call) {
        if constexpr (std::is_void_v<std::invoke_result_t<const Call&>>) {
            call();
            return {};
        } else {
            return call();
        }
    }
    std::function<Handled(const ConsumerRecord&, const Attempt&)> call_;
};

/// Why a partition is not gone on with.
enum class StopReason : std::uint8_t {
    letters_full,   ///< The dead-letter topic is full or refuses. Tried again after the back-off; nothing is dropped
                    ///< meanwhile.
    letters_gone,   ///< The dead-letter topic was deleted, or is another one by now.
    exhausted,      ///< Exhausted::stop: until the group is moved, to the record (tried anew) or past it.
    position_lost,  ///< Retention took records that were not finished, and the group's OnLoss is `error`: until the
                    ///< group is moved.
};
RINGMAIN_API std::string_view to_string(StopReason reason) noexcept;

struct StoppedPartition {
    std::uint32_t partition = 0;
    StopReason why = StopReason::exhausted;
    std::uint64_t offset = 0;    ///< Of the record that it stops for.
    std::uint32_t attempts = 0;  ///< At that record.
    std::string_view error;      ///< What its handler said last, if this runner knows it.
};

/// What was done, in numbers.
struct RunCounts {
    std::uint64_t handled = 0;  ///< Calls of the handler.
    std::uint64_t succeeded = 0;
    std::uint64_t failed = 0;         ///< Answers that were no success.
    std::uint64_t dead_lettered = 0;  ///< Records, each with its one letter.
    std::uint64_t skipped = 0;        ///< Exhausted::skip: finished without a letter.
    std::uint64_t died = 0;           ///< Attempts of others that never ended, found and counted.
    /// Answers that came after the partition had gone to another member: they are not recorded, and the record is tried
    /// there, again. What such a handler did happens twice.
    std::uint64_t late = 0;
    std::uint64_t lost = 0;  ///< Records that retention took before they were finished.
    RunCounts& operator+=(const RunCounts& other) noexcept;
};

struct RunResult {
    /// ok also when nothing was there. evicted (the next call joins again), fenced_instance, group_deleted,
    /// topic_deleted, corrupt, forked, misuse: as in PollResult; no_group after close.
    Status status = Status::ok;
    RunCounts counts;
    std::span<const Gap> gaps;  ///< Records lost to retention, or damaged. Valid until the next call, as all below.
    std::span<const StoppedPartition> stopped;  ///< Partitions that stand still at the end of the call.
    std::span<const PartitionFailure> failures;
};

/// A member of a group that handles the records of its partitions one after the other.
///
/// Threads: one at a time; handlers run on it. Progress: lock-free but for the handler. A member that is stopped or
/// evicted in the midst of a handler is not waited for: its partitions go to others, and its answer is refused. If the
/// process dies in a handler, the record is tried again by whoever owns the partition next, after the back-off, unless
/// that was its last attempt: then it is dead-lettered without being handled. If it dies anywhere else nothing is lost
/// and no letter is written twice.
class RINGMAIN_API RetryRunner {
public:
    /// Joins the group, and makes what its retries need if this is its first runner: 8 bytes for each cell of the
    /// topic. Throws Error: as Consumer::subscribe; invalid_argument (an option out of range; a delivery other than
    /// at_least_once; what speaks against the dead-letter topic: the topic itself, one whose own letters come back
    /// here, one too small for the topic's largest record and the letter's headers), busy (the dead-letter topic has an
    /// exclusive producer), mismatch (the group's retries were decided otherwise: names the option; or the name is a
    /// work queue's), no_space.
    RetryRunner(const Broker& broker, std::string_view topic, const GroupOptions& group,
                const RetryOptions& options = {});
    RetryRunner(RetryRunner&&) noexcept;
    RetryRunner& operator=(RetryRunner&&) noexcept;
    /// As close.
    ~RetryRunner();

    /// Handles what is there, a batch at the most, and commits what is finished; waits up to `timeout` while there is
    /// nothing. To be called at least every session_timeout; a handler that takes longer than that costs the
    /// membership.
    RunResult run_once(const RetryHandler& handler,
                       std::chrono::nanoseconds timeout = std::chrono::nanoseconds::zero());
    /// The same until `stop` says true, asked after each record and every few milliseconds; or until the group is
    /// deleted, the topic is, or another process took the static name. `each`: is told of every run_once that did or
    /// found something; of partitions that stand still when that changes.
    RunResult run(const RetryHandler& handler, const std::function<bool()>& stop,
                  const std::function<void(const RunResult&)>& each = {});

    [[nodiscard]] const std::string& topic() const noexcept;
    [[nodiscard]] const std::string& group() const noexcept;
    [[nodiscard]] const RetryOptions& options()
        const noexcept;  ///< With the name of the dead-letter topic; empty if there is none.
    /// Partitions that this member reads now.
    [[nodiscard]] std::span<const std::uint32_t> partitions() const noexcept;

    /// Commits what is finished and leaves the group. A static member keeps its share until its session times out.
    void close() noexcept;

    class Impl;

private:
    std::unique_ptr<Impl> impl_;
};

}  // namespace ringmain
