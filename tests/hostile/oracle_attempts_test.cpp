// Retries over memory that lies: attempts at the records of a partition, by the owners that it has one after the other.
#include <cstdlib>
#include <memory>
#include <optional>

#include "hostile/oracle_run.hpp"
#include "support/plain_work.hpp"
#include "work_table/attempts.hpp"

namespace ringmain::test {

namespace {

using namespace work_table;
using M = OracleMemory;
using Tenure = Attempts<M, LogLetters<M>>;

std::uint64_t below(std::uint64_t limit) { return Oracle::random() % limit; }

WorkShape some_shape() {
    WorkShape shape;
    shape.log.first_offset = below(2) == 0 ? 0 : std::uint64_t{1} << (below(2) == 0 ? 32 : 60);
    shape.window = std::uint64_t{1} << below(5);
    shape.now = below(2) == 0 ? 1'000'000 : kClockMask - 100;
    shape.rules.delivery_limit = static_cast<std::uint32_t>(below(5));
    shape.rules.exhausted = below(4) == 0 ? EndOf::skip : EndOf::dead_letter;
    return shape;
}

class OracleAttempts {
public:
    OracleAttempts() {
        world_.publish_many(12);
        take();
    }

    void call() {
        static constexpr OracleCall<OracleAttempts> kCalls[] = {
            {"publish", &OracleAttempts::publish}, {"take the partition", &OracleAttempts::take},
            {"look", &OracleAttempts::look},       {"look", &OracleAttempts::look},
            {"begin", &OracleAttempts::begin},     {"answer", &OracleAttempts::answer},
            {"give up", &OracleAttempts::give_up}, {"mark", &OracleAttempts::mark},
            {"pass", &OracleAttempts::pass},       {"return", &OracleAttempts::return_some},
        };
        run_some(*this, kCalls);
    }

private:
    void publish() {
        const WorkItem item{below(99), 0, 0};
        partition_log::SharedPublisher<M> publisher(world_.log, 0, 1);
        (void)publisher.publish(world_.parts_of(item));
    }
    /// Another owner, perhaps after the group was moved.
    void take() {
        group_table::PartitionWord word = world_.host_groups.word(world_.group.slot, 0);
        const std::uint32_t next = group_table::next_generation(word.generation);
        const std::uint64_t to = below(4) == 0 ? some_offset() & group_table::kCommittedMax : word.committed;
        (void)world_.host_groups.change_word(world_.group.slot, 0, word, {to, true, false, next, {}});
        // the words stay while owners come and go: always of the same file
        const layout::WorkGeometry geometry{world_.group.born, world_.group.slot, 0, world_.shape.window, next, 0};
        const WorkMemory<M> first = world_.work(0);
        tenure_.emplace(WorkMemory<M>{&first.control(), &first.word(0), geometry, world_.groups, world_.log},
                        world_.shape.rules, below(3) == 0, letters_, static_cast<std::uint32_t>(below(4)));
        tenure_->take_over(to, world_.now());
    }
    void look() {
        offset_ = some_offset();
        seen_ = tenure_->look(offset_, world_.now());
    }
    void begin() {
        if (seen_.turn == Turn::ready || below(8) == 0)
            lock_ = tenure_->begin(offset_, seen_.word);
    }
    void answer() {
        const std::uint64_t lock = below(8) == 0 ? Oracle::lie(lock_.value_or(0)) : lock_.value_or(0);
        switch (below(4)) {
            case 0:
                (void)tenure_->succeed(offset_, lock);
                break;
            case 1:
                (void)tenure_->fail(offset_, lock, world_.now());
                break;
            case 2:
                (void)tenure_->reject(offset_, lock, world_.now());
                break;
            default:
                (void)tenure_->give_back(offset_, lock, world_.now());
        }
    }
    void give_up() {
        (void)tenure_->give_up(some_offset(), below(2) == 0 ? DoneReason::lost : DoneReason::skipped, world_.now());
    }
    void mark() { tenure_->work().mark_rewound(static_cast<std::uint32_t>(Oracle::random() >> below(64))); }
    void return_some() {
        (void)return_records(
            tenure_->work(), world_.shape.rules, static_cast<std::uint32_t>(below(5)), [] { return below(8) != 0; },
            world_.now());
    }
    void pass() {
        world_.pass(below(1'500));
        world_.board->refuses.store(below(4) == 0 ? 1 : 0, std::memory_order_release);
        world_.board->deleted.store(below(8) == 0 ? 1 : 0, std::memory_order_release);
    }
    [[nodiscard]] std::uint64_t some_offset() const {
        return below(6) == 0 ? Oracle::random() : world_.log_end() - below(2 * world_.shape.log.records);
    }

    PlainWork<M> world_{some_shape()};
    LogLetters<M> letters_{world_, 1};
    std::optional<Tenure> tenure_;
    std::uint64_t offset_ = 0;
    TurnOf seen_;
    std::optional<std::uint64_t> lock_;
};

}  // namespace

TEST_CASE("No attempt at a record can be made to loop or to touch foreign memory by what its memory answers") {
    call_under_all_moods("attempts", 15, [](std::uint64_t) { return std::make_unique<OracleAttempts>(); });
}

}  // namespace ringmain::test
