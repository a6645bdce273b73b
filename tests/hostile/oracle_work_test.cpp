// Work queues over memory that lies: each call comes to its end and touches nothing but the memory it was given.
#include <cstdlib>
#include <memory>

#include "hostile/oracle_run.hpp"
#include "support/plain_work.hpp"

namespace ringmain::test {

namespace {

using namespace work_table;
using M = OracleMemory;

// What a liveness oracle says is not in shared memory, but may be anything.
struct IsDead {
    bool operator()(std::uint64_t) const noexcept { return (Oracle::random() & 3) == 0; }
};

std::uint64_t below(std::uint64_t limit) { return Oracle::random() % limit; }

WorkShape some_shape() {
    WorkShape shape;
    shape.log.block = below(2) == 0;
    shape.log.first_offset = below(2) == 0 ? 0 : std::uint64_t{1} << (below(2) == 0 ? 32 : 60);
    shape.window = std::uint64_t{1} << below(5);
    shape.gating = below(2) == 0;
    shape.now = below(2) == 0 ? 1'000'000 : kClockMask - 100;
    shape.rules.delivery_limit = static_cast<std::uint32_t>(below(5));
    shape.rules.in_flight_max = static_cast<std::uint32_t>(below(6));
    shape.rules.exhausted = below(4) == 0 ? EndOf::skip : EndOf::dead_letter;
    return shape;
}

class OracleWorkCalls {
public:
    OracleWorkCalls() { begin_workers(); }

    void call() {
        static constexpr OracleCall<OracleWorkCalls> kCalls[] = {
            {"publish", &OracleWorkCalls::publish}, {"acquire", &OracleWorkCalls::acquire},
            {"acquire", &OracleWorkCalls::acquire}, {"settle", &OracleWorkCalls::settle},
            {"settle", &OracleWorkCalls::settle},   {"settle", &OracleWorkCalls::settle},
            {"join", &OracleWorkCalls::join},       {"return", &OracleWorkCalls::give_back},
            {"advance", &OracleWorkCalls::move},    {"retire", &OracleWorkCalls::retire_some},
            {"pass", &OracleWorkCalls::pass},       {"reset", &OracleWorkCalls::reset},
        };
        run_some(*this, kCalls);
    }

private:
    static constexpr std::uint32_t kActors = 2;

    void begin_workers() {
        for (std::uint32_t slot = 0; slot < kActors; ++slot)
            actors_[slot] = std::make_unique<PlainWorker<M>>(work_, slot);
    }
    /// What an operator does; the workers find out, and begin again.
    void reset() {
        if (below(20) != 0)
            return;
        work_.reset(below(2) == 0 ? work_.log_end() - below(40) : Oracle::random() & group_table::kCommittedMax);
        if (below(2) == 0)
            begin_workers();
    }

    void publish() {
        partition_log::SharedPublisher<M> publisher(work_.log, 0, 1);
        const WorkItem item{below(99), static_cast<std::uint32_t>(below(3) == 0 ? below(500) : 0),
                            static_cast<std::uint32_t>(below(3) == 0 ? below(500) : 0)};
        (void)publisher.publish(work_.parts_of(item));
    }
    PlainWorker<M>& actor() { return *actors_[below(kActors)]; }
    void acquire() {
        PlainWorker<M>& worker = actor();
        worker.records.room = below(9);
        const std::size_t count = 1 + below(8);
        const Acquired acquired = worker.acquire(count);
        if (acquired.records > count || acquired.records > worker.records.room)
            std::abort();
        for (std::size_t i = 0; i < acquired.records; ++i)
            held_[below(held_.size())] = worker.records.held[i];
    }
    void settle() {
        PlainWorker<M>& worker = actor();
        HeldRecord held = held_[below(held_.size())];
        if (below(8) == 0)
            held.offset = Oracle::random();
        if (below(8) == 0)
            held.word = Oracle::lie(held.word);
        switch (below(5)) {
            case 0:
                (void)worker.ack(held);
                break;
            case 1:
                (void)worker.nack(held);
                break;
            case 2:
                (void)worker.release(held);
                break;
            case 3:
                (void)worker.reject(held);
                break;
            default:
                (void)worker.renew(held, below(2'000));
        }
    }
    void join() {
        const std::uint64_t client = Oracle::random();
        const auto returning = [this](std::uint32_t slot, std::uint64_t owner) {
            (void)return_records(
                work_.work(), work_.shape.rules, slot, [&] { return work_.workers.owner(slot) == owner; }, work_.now());
            return (Oracle::random() & 7) != 0;
        };
        const auto slot = work_.workers.join(client, IsDead{}, returning);
        if (slot && *slot >= work_.shape.workers)
            std::abort();
        if (slot && below(2) == 0)
            work_.workers.leave(*slot, client);
    }
    void give_back() {
        const auto slot = static_cast<std::uint32_t>(below(kWorkersBound));
        (void)return_records(
            work_.work(), work_.shape.rules, slot, [] { return (Oracle::random() & 7) != 0; }, work_.now());
    }
    void move() {
        std::uint64_t from = 0;
        (void)jump(work_.work(), from);
        (void)advance(work_.work());
    }
    void retire_some() {
        if (below(20) != 0)
            return;
        LogLetters<M> letters(work_, 1);
        (void)retire(work_.work(), letters);
    }
    void pass() {
        work_.pass(below(1'500));
        work_.board->refuses.store(below(4) == 0 ? 1 : 0, std::memory_order_release);
        work_.board->deleted.store(below(8) == 0 ? 1 : 0, std::memory_order_release);
    }

    static constexpr std::uint64_t kWorkersBound = 1024;
    PlainWork<M> work_{some_shape()};
    std::array<std::unique_ptr<PlainWorker<M>>, kActors> actors_;
    std::array<HeldRecord, 16> held_{};
};

}  // namespace

TEST_CASE("No call on a queue can be made to loop or to touch foreign memory by what its memory answers") {
    call_under_all_moods("queues", 15, [](std::uint64_t) { return std::make_unique<OracleWorkCalls>(); });
}

}  // namespace ringmain::test
