// The audit of the orders finds what is wrong in journals that were written by hand.
#include "cli/orders_audit.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "cli/orders_report.hpp"
#include "support/catch.hpp"

using namespace ringmain::cli::orders;

namespace {

constexpr std::uint32_t kEmail1 = 0;
constexpr std::int64_t kMs = 1'000'000;

/// The journals of a group's members, each entry a millisecond after the one before.
class Journalists {
public:
    void note(std::uint32_t member, Entry::Kind kind, std::uint32_t partition, std::uint64_t offset = 0) {
        Entry entry;
        entry.kind = kind;
        entry.partition = static_cast<std::uint8_t>(partition);
        entry.offset = offset;
        write(member, entry);
    }
    void acquire(std::uint32_t member, std::uint32_t partition, std::uint64_t offset) {
        note(member, Entry::Kind::acquired, partition, offset);
    }
    void handle(std::uint32_t member, std::uint32_t partition, std::uint64_t offset, std::uint32_t order,
                std::uint8_t step) {
        Entry entry;
        entry.partition = static_cast<std::uint8_t>(partition);
        entry.offset = offset;
        entry.order = order;
        entry.step = step;
        write(member, entry);
    }
    /// An order whose four events are at `offset` and behind it.
    void handle_order(std::uint32_t member, std::uint32_t partition, std::uint64_t offset, std::uint32_t order) {
        for (std::uint8_t step = 1; step <= 4; ++step)
            handle(member, partition, offset + step - 1, order, step);
    }
    [[nodiscard]] GroupAudit audit_of(std::uint64_t orders) const { return audit(0, journals(), orders, Moments{}); }
    [[nodiscard]] Journals journals() const {
        Journals journals;
        for (std::size_t member = 0; member < entries_.size(); ++member)
            journals[member] = entries_[member];
        return journals;
    }
    [[nodiscard]] std::int64_t now_ns() const noexcept { return static_cast<std::int64_t>(tick_) * kMs; }

private:
    void write(std::uint32_t member, Entry entry) {
        entry.tick = tick_++;
        entry.time_ns = now_ns();
        entries_[member].push_back(entry);
    }

    std::array<std::vector<Entry>, kMembers.size()> entries_;
    std::uint64_t tick_ = 1;
};

}  // namespace

TEST_CASE("The audit of a group that handled everything once, in order, finds nothing wrong") {
    Journalists group;
    group.acquire(kEmail1, 0, 0);
    group.handle_order(kEmail1, 0, 0, 0);
    group.note(kEmail1, Entry::Kind::given_up, 0);
    group.acquire(kStopped, 0, 4);
    group.handle_order(kStopped, 0, 4, 1);
    const GroupAudit audit = group.audit_of(2);
    CHECK(audit.orders == 2);
    CHECK(audit.handled == 8);
    CHECK(audit.distinct == 8);
    CHECK(audit.missing == 0);
    CHECK(audit.repeated() == 0);
    CHECK(audit.unknown == 0);
    CHECK(audit.first_disorder == 0);
    CHECK(audit.tenure_disorder == 0);
    CHECK(audit.went_behind == 0);
    CHECK(audit.handovers == 1);
    CHECK(audit.longest_pause_ns == 3 * kMs);
}

TEST_CASE("The audit counts events that nobody handled, and orders that are not whole") {
    Journalists group;
    group.acquire(kEmail1, 0, 0);
    group.handle_order(kEmail1, 0, 0, 0);
    group.handle(kEmail1, 0, 4, 1, 1);
    const GroupAudit audit = group.audit_of(3);
    CHECK(audit.missing == 3 + 4);
    CHECK(audit.orders == 1);
}

TEST_CASE("The audit counts a step that was jumped over, and one that goes back, within a tenure") {
    Journalists jump;
    jump.acquire(kEmail1, 0, 0);
    jump.handle(kEmail1, 0, 0, 0, 1);
    jump.handle(kEmail1, 0, 2, 0, 3);
    CHECK(jump.audit_of(1).tenure_disorder == 1);

    Journalists back;
    back.acquire(kEmail1, 0, 0);
    back.handle(kEmail1, 0, 0, 0, 1);
    back.handle(kEmail1, 0, 2, 0, 3);
    back.handle(kEmail1, 0, 1, 0, 2);
    const GroupAudit audit = back.audit_of(1);
    CHECK(audit.tenure_disorder == 2);
    CHECK(audit.first_disorder == 1);

    Journalists twice;
    twice.acquire(kEmail1, 0, 0);
    twice.handle(kEmail1, 0, 0, 0, 1);
    twice.handle(kEmail1, 0, 0, 0, 1);
    CHECK(twice.audit_of(1).tenure_disorder == 1);
    CHECK(twice.audit_of(1).repeats[kEmail1] == 1);
}

TEST_CASE(
    "The audit charges a repeat to the member whose handling was not committed, also when it handles on after its "
    "eviction") {
    Journalists group;
    group.acquire(kStopped, 0, 0);
    group.handle(kStopped, 0, 0, 0, 1);
    group.note(kStopped, Entry::Kind::committed, 0, 1);
    group.handle(kStopped, 0, 1, 0, 2);
    group.acquire(kEmail1, 0, 1);
    group.handle(kEmail1, 0, 1, 0, 2);
    group.handle(kEmail1, 0, 2, 0, 3);
    group.handle(kStopped, 0, 2, 0, 3);  // it still had it in hand
    group.note(kStopped, Entry::Kind::fenced, 0, 3);
    group.note(kStopped, Entry::Kind::lost, 0);
    group.handle(kEmail1, 0, 3, 0, 4);
    const GroupAudit audit = group.audit_of(1);
    CHECK(audit.orders == 1);
    CHECK(audit.repeated() == 2);
    CHECK(audit.repeats[kStopped] == 2);
    CHECK(audit.repeats[kEmail1] == 0);
    CHECK(audit.went_behind == 0);
    CHECK(audit.first_disorder == 0);
    CHECK(audit.tenure_disorder == 0);
}

TEST_CASE("The audit counts a hand-over that goes back behind what was committed, or repeats what was given up") {
    Journalists committed;
    committed.acquire(kKilled, 0, 0);
    committed.handle(kKilled, 0, 0, 0, 1);
    committed.handle(kKilled, 0, 1, 0, 2);
    committed.note(kKilled, Entry::Kind::committed, 0, 2);
    committed.acquire(kEmail1, 0, 1);
    CHECK(committed.audit_of(1).went_behind == 1);

    Journalists given_up;
    given_up.acquire(kEmail1, 0, 0);
    given_up.handle(kEmail1, 0, 0, 0, 1);
    given_up.note(kEmail1, Entry::Kind::given_up, 0);
    given_up.acquire(kStopped, 0, 0);
    CHECK(given_up.audit_of(1).went_behind == 1);

    Journalists in_between;  // a member that handled nothing in its time does not hide it
    in_between.acquire(kEmail1, 0, 0);
    in_between.handle(kEmail1, 0, 0, 0, 1);
    in_between.note(kEmail1, Entry::Kind::given_up, 0);
    in_between.acquire(kKilled, 0, 1);
    in_between.acquire(kStopped, 0, 0);
    CHECK(in_between.audit_of(1).went_behind == 1);
}

TEST_CASE("The audit counts handlings of what nobody published, and of partitions that are not the member's") {
    Journalists group;
    group.handle(kEmail1, 0, 0, 0, 1);  // never acquired
    group.acquire(kEmail1, 0, 0);
    group.handle(kEmail1, 0, 0, 7, 1);
    group.handle(kEmail1, 0, 1, 0, 5);
    group.handle(kEmail1, kPartitions, 1, 0, 1);
    CHECK(group.audit_of(1).unknown == 4);
}

TEST_CASE(
    "The cost of a signal is the time until others worked on the member's partitions again, and nothing if they never "
    "did") {
    Journalists group;
    group.acquire(kKilled, 0, 0);
    group.acquire(kKilled, 1, 0);
    group.acquire(kEmail1, 2, 0);
    group.handle(kKilled, 0, 0, 0, 1);
    const std::int64_t killed_ns = group.now_ns();
    group.handle(kEmail1, 2, 0, 1, 1);
    group.acquire(kEmail1, 0, 0);
    group.handle(kEmail1, 0, 0, 0, 1);
    const Cost waiting = cost_of(group.audit_of(3), group.journals(), kKilled, killed_ns);
    CHECK(waiting.partitions == 2);
    CHECK_FALSE(waiting.all_ns);
    group.acquire(kEmail1, 1, 0);
    group.handle(kEmail1, 1, 0, 2, 1);
    const Cost cost = cost_of(group.audit_of(3), group.journals(), kKilled, killed_ns);
    CHECK(cost.partitions == 2);
    CHECK(cost.first_ns == 3 * kMs);
    CHECK(cost.all_ns == 5 * kMs);
}

TEST_CASE("A journal keeps its entries in order, and says so when it is full") {
    Journal journal(2);
    CHECK(journal.entries().empty());
    Entry entry;
    entry.offset = 1;
    journal.append(entry);
    entry.offset = 2;
    journal.append(entry);
    REQUIRE(journal.entries().size() == 2);
    CHECK(journal.entries()[1].offset == 2);
    CHECK_THROWS_AS(journal.append(entry), std::runtime_error);
}

TEST_CASE("Repeats of a member that was neither killed nor stopped nor evicted are a wrong count, others are not") {
    OrdersOptions options;
    options.producers = 1;
    Plan plan = make_plan(options);
    plan.orders_per_producer = 1;
    Records records(100, 100);
    const auto write = [&](std::uint32_t member, Entry::Kind kind, std::uint64_t offset, std::uint8_t step = 0) {
        Entry entry;
        entry.tick = records.board->groups[0].tick.fetch_add(1);
        entry.kind = kind;
        entry.offset = offset;
        entry.step = step;
        records.journals[member].append(entry);
    };
    write(kEmail1, Entry::Kind::acquired, 0);
    for (std::uint8_t step = 1; step <= 4; ++step)
        write(kEmail1, Entry::Kind::handled, step - 1U, step);
    write(kStopped, Entry::Kind::acquired, 3);
    write(kStopped, Entry::Kind::handled, 3, 4);
    const auto repeats_are_right = [&] {
        for (const auto& check : judge(plan, records, {}).checks) {
            if (check.name.starts_with("email: only what"))
                return check.good;
        }
        FAIL("there is no such check");
        return false;
    };
    CHECK_FALSE(repeats_are_right());
    write(kEmail1, Entry::Kind::evicted, 0);
    CHECK(repeats_are_right());
}
