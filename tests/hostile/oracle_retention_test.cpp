// Retention over memory that lies: by age, bytes and records, from marks that anybody may have written.
#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>

#include "hostile/oracle_run.hpp"
#include "partition_log/publisher.hpp"
#include "retention/retention.hpp"
#include "support/plain_log.hpp"

namespace ringmain::test {

namespace {

using M = OracleMemory;

std::uint64_t below(std::uint64_t limit) { return Oracle::random() % limit; }

class OracleRetentionCalls {
public:
    explicit OracleRetentionCalls(std::uint64_t round)
        : memory_(
              {.records = 16, .first_offset = round % 3 == 0 ? std::uint64_t{1} << 60 : 0, .block = round % 2 == 0}) {
        replace();
    }

    void call() {
        static constexpr OracleCall<OracleRetentionCalls> kCalls[] = {
            {"publish", &OracleRetentionCalls::publish}, {"step", &OracleRetentionCalls::step},
            {"step", &OracleRetentionCalls::step},       {"replace", &OracleRetentionCalls::replace},
            {"mark", &OracleRetentionCalls::mark},       {"read marks", &OracleRetentionCalls::read_marks},
        };
        run_some(*this, kCalls);
    }

private:
    void publish() {
        partition_log::SharedPublisher<M> publisher(memory_.log, 0, 1);
        const std::string value(below(600), 'v');
        (void)publisher.publish(parts_of(value));
    }
    /// A keeper of a partition works for several steps.
    void step() {
        if (below(3) == 0)
            limits_ = some_limits();
        now_ += below(2) == 0 ? below(300'000'000) : below(20);
        const auto moment = retention::Moment{below(20) == 0 ? Oracle::random() : now_, below(10) == 0 ? 2U : 1U};
        const retention::Expired done =
            keeper_->step([this] { return limits_; }, moment, below(4) == 0 ? below(8) : 64);
        if (done.to < done.from)
            std::abort();
        (void)keeper_->due_ns();
        (void)keeper_->unfinished();
    }
    /// Another keeper goes on with what is marked.
    void replace() { keeper_.emplace(memory_.log); }
    void mark() {
        auto& ring = below(2) == 0 ? memory_.log.marks->ages : memory_.log.marks->sizes;
        retention::write_mark(
            ring, {below(2) == 0 ? memory_.end() - below(20) : Oracle::random(), Oracle::random() >> below(64)},
            below(3));
    }
    void read_marks() {
        const auto marks =
            retention::read_marks(memory_.log.marks->ages, memory_.start(), {memory_.end(), now_}, below(3));
        if (marks.size() > retention::kMarksKept)
            std::abort();
    }
    static Retention some_limits() {
        Retention limits;
        if (below(2) == 0)
            limits.age = std::chrono::milliseconds(1 + below(500));
        if (below(2) == 0)
            limits.bytes = 1 + (Oracle::random() >> below(60) >> 4);
        if (below(3) == 0)
            limits.records = 1 + below(20);
        return limits;
    }

    PlainLog<M> memory_;
    std::optional<retention::PartitionRetention<M>> keeper_;
    Retention limits_;
    std::uint64_t now_ = 1'000'000'000;
};

}  // namespace

TEST_CASE("No step of retention can be made to loop or to touch foreign memory by what its memory answers") {
    call_under_all_moods("retention", 10,
                         [](std::uint64_t round) { return std::make_unique<OracleRetentionCalls>(round); });
}

}  // namespace ringmain::test
