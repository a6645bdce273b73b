// A queue on one partition for scenarios, its workers, its dead letters, a clock that the scenario turns; and the
// oracle of what may become of a record.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "explore/explored_memory.hpp"
#include "explore/scenario.hpp"
#include "partition_log/publisher.hpp"
#include "support/plain_groups.hpp"
#include "support/plain_log.hpp"
#include "work_table/acquiring.hpp"
#include "work_table/attempts.hpp"
#include "work_table/reaping.hpp"
#include "work_table/retiring.hpp"
#include "work_table/settling.hpp"
#include "work_table/workers.hpp"

namespace ringmain::explore {

struct QueueShape {
    std::uint64_t records = 1;  // that are there from the beginning
    std::uint64_t window = 8;
    std::uint32_t workers = 4;
    unsigned held = 0;        // records that thread 0 holds at the beginning
    bool letters = false;     // somebody may write some
    bool letters_go = false;  // their topic may be deleted
    bool retention = false;   // somebody may move the log start
    bool stream = false;      // the words of a stream group, which outlive its tenures
    work_table::WorkRules rules{.lock_ms = 1'000,
                                .backoff_first_ms = 100,
                                .backoff_max_ms = 100,
                                .backoff_jitter_permille = 0,
                                .delivery_limit = 8};
};

/// What a worker holds.
struct Hand {
    std::uint64_t offset = 0;
    std::uint64_t lock = 0;
};

/// What is known from outside about the records of one execution.
class RecordsOracle {
public:
    static constexpr unsigned kOffsets = 8;

    explicit RecordsOracle(const work_table::WorkRules& rules) noexcept : rules_(rules) {}

    void begin() noexcept { *this = RecordsOracle(rules_); }
    /// A worker asks for records, by its clock.
    void asks(std::uint64_t now) noexcept { latest_ = now > latest_ ? now : latest_; }
    /// A worker believes that it has the record; `current`: its word says so at this moment.
    void took(unsigned thread, const Hand& hand, bool current, std::uint64_t now);
    /// The worker has the record, and nobody else believes so.
    void holds(unsigned thread, const Hand& hand) noexcept;
    /// An answer is about to be given: the record is not the worker's from now on. `acks`: it would end it.
    void answers(unsigned thread, std::uint64_t offset, bool acks) noexcept;
    void answered(unsigned thread, std::uint64_t offset, bool acked);
    /// What was locked by `lock` is not to be had before.
    void waits_until(std::uint64_t offset, std::uint64_t due, std::uint64_t lock) noexcept;
    void told_lost(std::uint64_t offset);

    /// Somebody was told that the record was finished by its ack.
    [[nodiscard]] bool was_acked(std::uint64_t offset) const noexcept { return records_[offset].acked; }
    [[nodiscard]] bool was_lost(std::uint64_t offset) const noexcept { return records_[offset].lost; }
    /// Somebody fell while it acked, and nobody was told.
    [[nodiscard]] bool may_be_acked(std::uint64_t offset) const noexcept;
    /// How often a worker got it.
    [[nodiscard]] unsigned deliveries(std::uint64_t offset) const noexcept { return records_[offset].deliveries; }

private:
    static constexpr unsigned kNobody = kThreadsMax + 1;  // kThreadsMax is who works before and after all threads
    struct Record {
        bool acked = false;
        bool lost = false;
        unsigned holder = kNobody;
        std::uint64_t lock = 0;
        unsigned deliveries = 0;
        std::array<bool, kThreadsMax + 1> acking{};
        std::optional<std::uint64_t> due;
        std::uint32_t given_back = 0;  // the count of what waits until then
    };
    work_table::WorkRules rules_;
    std::uint64_t latest_ = 0;
    std::array<Record, kOffsets> records_{};
};

/// The base of all scenarios of queues. Thread i has worker slot i, and the last slot is nobody's.
class QueueStage : public Scenario {
public:
    QueueStage(const QueueShape& shape, const Bounds& bounds, unsigned threads);

    void set_up() override;
    void begin() override;
    void finish() override;
    [[nodiscard]] std::string name_of_location(const void* address) const override;

protected:
    using M = ExploredMemory;
    using Work = work_table::WorkMemory<M>;
    using Log = partition_log::LogMemory<M>;

    static constexpr std::uint64_t kNow = 1'000'000;

    [[nodiscard]] static constexpr std::uint64_t client_of(unsigned thread) noexcept {
        return std::uint64_t{1} << 32 | (thread + 1);
    }
    struct IsDead {
        bool operator()(std::uint64_t client) const {
            const unsigned thread = static_cast<unsigned>(client & 0xff) - 1;
            return thread < kThreadsMax && proven_dead(thread);  // a planted fault may make a word of nobody
        }
    };

    /// The log as a worker of the stage sees it.
    class Records {
    public:
        explicit Records(QueueStage& stage) noexcept : stage_(&stage) {}
        work_table::Peeked peek(std::uint64_t offset) noexcept;
        work_table::Received copy(std::uint64_t offset) noexcept;
        bool copy_plain(std::uint64_t offset) noexcept { return copy(offset) == work_table::Received::record; }
        static void drop() noexcept {}
        void took(std::uint64_t offset, std::uint64_t word) noexcept;
        void lost(std::uint64_t from, std::uint64_t to) noexcept;
        static void corrupt(std::uint64_t) noexcept { require(false, "a sound record is found corrupt"); }

        std::array<Hand, 4> held{};
        std::size_t count = 0;
        std::uint64_t now = 0;

    private:
        QueueStage* stage_;
    };

    /// The dead letters, as one worker writes them: a letter is the offset that it is about.
    class Letters {
    public:
        Letters(const QueueStage& stage, std::uint32_t slot) noexcept
            : log_(stage.letters_), gone_(stage.letters_gone_), publisher_(log_, slot, 1) {}
        static Status prepare(const work_table::LetterOf&) noexcept { return Status::ok; }
        work_table::LetterTicket take_ticket() noexcept;
        void give_up(std::uint64_t ticket) noexcept { publisher_.give_up(ticket); }
        work_table::Sent commit_at(std::uint64_t ticket, const work_table::LetterOf& about) noexcept;
        partition_log::Decision close(std::uint64_t ticket) const noexcept;
        bool usable() const noexcept { return gone_->load(std::memory_order_acquire) == 0; }

    private:
        Log log_;
        const M::Atomic<std::uint64_t>* gone_;
        partition_log::SharedPublisher<M> publisher_;
    };

    /// One thread's worker. Times are what the clock says when it begins a call.
    class Worker {
    public:
        Worker(QueueStage& stage, std::uint32_t slot) noexcept : Worker(stage, slot, stage.generation_) {}
        Worker(QueueStage& stage, std::uint32_t slot, std::uint32_t generation) noexcept
            : records(stage),
              stage_(&stage),
              slot_(slot),
              letters_(stage, slot),
              acquiring_(stage.work(generation), stage.shape_.rules, letters_, slot),
              settling_(stage.work(generation), stage.shape_.rules, letters_, slot) {}
        Worker(const Worker&) = delete;
        Worker& operator=(const Worker&) = delete;

        std::size_t acquire(std::size_t count) { return acquire(count, stage_->now_); }
        /// By a clock that was read before.
        std::size_t acquire(std::size_t count, std::uint64_t now);
        work_table::Answered ack(const Hand& hand);
        work_table::Answered nack(const Hand& hand, std::optional<std::uint64_t> delay_ms = std::nullopt);
        work_table::Answered release(const Hand& hand);
        work_table::Answered reject(const Hand& hand);
        work_table::Answered renew(Hand& hand, std::uint64_t lock_ms);
        [[nodiscard]] Letters& letters() noexcept { return letters_; }

        Records records;

    private:
        void begins(const Hand& hand, bool acks) noexcept;
        work_table::Answered judged(const Hand& hand, work_table::Answered answered, bool acks);

        QueueStage* stage_;
        std::uint32_t slot_;
        Letters letters_;
        work_table::Acquiring<M, Letters> acquiring_;
        work_table::Settling<M, Letters> settling_;
    };

    [[nodiscard]] Work work() const noexcept { return work(generation_); }
    [[nodiscard]] Work work(std::uint32_t generation) const noexcept;
    void pass(std::uint64_t ms) noexcept { now_ += ms; }
    /// Beyond every lock and the back-off behind it.
    void pass_a_lock() noexcept { pass(shape_.rules.lock_ms + shape_.rules.backoff_max_ms + work_table::kSweepMs); }

    [[nodiscard]] std::uint64_t word(std::uint64_t offset) const noexcept { return newest(&work().word(offset)); }
    /// Letters in the dead-letter topic that is there now.
    [[nodiscard]] unsigned letters_about(std::uint64_t offset) const;
    /// An honest worker comes, when all locks are over, as often as it takes, and everything is finished in one way.
    void finish_all();
    void check_record(std::uint64_t offset) const;

    QueueShape shape_;
    test::PageMemory memory_;
    Log log_;
    Log letters_;
    M::Atomic<std::uint64_t>* letters_gone_ = nullptr;  // 1: their topic was deleted
    std::uint64_t letters_from_ = 0;                    // what is below belongs to a topic that is gone
    group_table::GroupsMemory<M> groups_;
    work_table::Workers<M> workers_;
    group_table::GroupRef group_;
    std::uint32_t generation_ = 1;
    std::uint64_t now_ = kNow;
    RecordsOracle oracle_{shape_.rules};
    std::array<Hand, 4> first_hands_{};

private:
    [[nodiscard]] static std::size_t bytes(const QueueShape& shape) noexcept;
    void keep_calm_what_nobody_changes(std::byte* log_base, std::byte* letters_base);

    std::array<std::byte*, 2> files_{};
};

}  // namespace ringmain::explore
