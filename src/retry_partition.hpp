// One partition in the hands of a runner: which of its records is next, and what becomes of them.
//
//   scanned: next_ --> open record: waiting (due) | held (behind an earlier one of its key) | in hand | condemned -->
//   finished
//
// Everything below next_ that is not open is finished: so the first open offset, or next_, is what may be committed.
// What a runner keeps here is only what the words say, and an order in it; a successor finds all of it again by
// scanning from what is committed.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "dead_letter_log.hpp"
#include "kept_record.hpp"
#include "partition_cursor.hpp"
#include "platform/memory.hpp"
#include "ringmain/retry.hpp"
#include "work_files.hpp"
#include "work_table/attempts.hpp"

namespace ringmain {

/// The clocks of one look.
struct RetryTime {
    std::uint64_t ms = 0;     ///< Of back-offs; not masked.
    std::uint64_t ticks = 0;  ///< Of patience.
};
[[nodiscard]] RetryTime retry_time_now() noexcept;

/// A record in the hands of a handler.
struct RetryTask {
    std::uint32_t partition = 0;
    std::uint32_t tenure = 0;
    std::uint64_t offset = 0;
    std::uint64_t lock = 0;
    Attempt attempt;
    KeptRecord copy;
};

/// What a runner decides about all its partitions.
struct RetryPolicy {
    work_table::WorkRules rules;
    bool stops = false;  ///< Exhausted::stop.
    RetryOrder order = RetryOrder::partition;
    std::size_t waiting_max = 0;
    std::uint64_t patience_ticks = 0;
};

/// Not thread-safe.
class RetryPartition {
public:
    using Memory = platform::HostMemory;

    /// What there is to be told, by all partitions of one call.
    struct News {
        RunCounts counts;
        std::vector<Gap> gaps;
        void add_gap(const Gap& gap);
    };

    /// `files`, `letters`, `policy` and `news` must outlive it. Throws Error as WorkFiles::part and
    /// DeadLetterLog.
    RetryPartition(WorkFiles& files, std::shared_ptr<PartitionCursor> cursor, DeadLetterLogs& letters,
                   const RetryPolicy& policy, News& news);

    /// The partition is this member's from now on.
    struct Tenure {
        std::uint32_t generation = 0;
        std::uint32_t member_slot = 0;
        std::uint64_t start = 0;  // committed, from the exchange that took it
        OnLoss on_loss = OnLoss::error;
    };
    void begin_tenure(const Tenure& tenure);
    /// It is not any more. Records in hand may still be answered for.
    void end_tenure() noexcept;
    [[nodiscard]] bool held() const noexcept { return held_; }

    /// The next record for a handler, if there is one now. Its attempt has begun.
    [[nodiscard]] bool next(RetryTask& task, const RetryTime& now);
    /// What its handler said. Also for tasks of earlier tenures.
    void answer(const RetryTask& task, const Handled& handled, const RetryTime& now);
    /// Its handler was not called.
    void give_back(const RetryTask& task, const RetryTime& now);

    [[nodiscard]] std::size_t in_hand() const noexcept { return in_hand_; }
    /// How far records were looked at, and what may be committed.
    [[nodiscard]] std::uint64_t position() const noexcept { return next_; }
    [[nodiscard]] std::uint64_t finished() const noexcept { return open_.empty() ? next_ : open_.begin()->first; }
    void committed(std::uint64_t offset) noexcept { start_ = offset; }
    [[nodiscard]] std::uint64_t start() const noexcept { return start_; }

    /// ok, topic_deleted or corrupt.
    [[nodiscard]] Status status() const noexcept { return status_; }
    [[nodiscard]] std::optional<StoppedPartition> stopped() const;
    /// Something to do without a new record, in ms from now on.
    [[nodiscard]] std::optional<std::uint64_t> due_in_ms(const RetryTime& now) const noexcept;
    /// A look would find a record, or a ticket is open.
    [[nodiscard]] bool ready() const noexcept;
    /// The next record is not decided, and somebody has its ticket.
    [[nodiscard]] bool held_up() const noexcept;
    [[nodiscard]] PartitionCursor& cursor() noexcept { return *cursor_; }

private:
    enum class State : std::uint8_t { waiting, held, in_hand, condemned };
    using KeyQueue = std::unordered_map<std::string, std::deque<std::uint64_t>>::value_type;
    struct Open {
        State state = State::waiting;
        bool died = false;
        std::uint32_t attempts = 0;
        std::uint64_t due = 0;  // waiting, condemned: ms, not masked
        KeyQueue* key = nullptr;
        std::string first_error;
        std::string last_error;
    };
    using OpenAt = std::map<std::uint64_t, Open>::iterator;
    using Due = std::set<std::pair<std::uint64_t, std::uint64_t>>;  // {due, offset}
    using Attempts = work_table::Attempts<Memory, DeadLetterLog>;

    [[nodiscard]] const WorkFiles::Part& words();
    [[nodiscard]] bool next_due(RetryTask& task, const RetryTime& now);
    [[nodiscard]] bool scan(RetryTask& task, const RetryTime& now);
    [[nodiscard]] bool may_attempt() const noexcept;
    [[nodiscard]] bool may_scan() const noexcept;
    [[nodiscard]] OpenAt open(std::uint64_t offset, const partition_log::RecordView& view);
    [[nodiscard]] bool attempt(OpenAt at, RetryTask& task, const RetryTime& now);
    void look_at(OpenAt at, const RetryTime& now);
    void file(OpenAt at, const work_table::TurnOf& turn, const RetryTime& now);
    void finish(OpenAt at, work_table::DoneReason how);
    void take_out(OpenAt at);
    void wait(OpenAt at, std::uint64_t due);
    void unfile(OpenAt at) noexcept;
    [[nodiscard]] OpenAt in_hand_at(const RetryTask& task);
    bool record(const RetryTask& task, Handled::What what, const RetryTime& now) const noexcept;
    void tell(std::uint64_t from, std::uint64_t to, GapReason reason);
    [[nodiscard]] bool is_damaged() noexcept;
    void find_loss(const RetryTime& now);
    [[nodiscard]] bool is_lost(std::uint64_t log_start) const noexcept;
    void lose_before(std::uint64_t end, const RetryTime& now);
    [[nodiscard]] bool lose(std::uint64_t offset, const RetryTime& now);
    [[nodiscard]] bool awaits_letter(std::uint64_t offset, const Open& open) const noexcept;
    void hold_up(const RetryTime& now) noexcept;

    WorkFiles& files_;
    std::shared_ptr<PartitionCursor> cursor_;
    const RetryPolicy& policy_;
    News& news_;
    DeadLetterLog letters_;
    std::optional<Attempts> attempts_;  // of the tenure, or the last one
    bool held_ = false;
    std::uint32_t tenure_ = 0;
    OnLoss on_loss_ = OnLoss::error;
    Status status_ = Status::ok;
    bool position_lost_ = false;
    std::uint64_t start_ = 0;  // committed
    std::uint64_t next_ = 0;
    std::map<std::uint64_t, Open> open_;
    Due due_;          // waiting
    Due letters_due_;  // condemned, and to be tried again
    std::size_t condemned_ = 0;
    std::size_t in_hand_ = 0;
    std::unordered_map<std::string, std::deque<std::uint64_t>> keys_;
};

}  // namespace ringmain
