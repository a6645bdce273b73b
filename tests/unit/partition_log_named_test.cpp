// Named producers: every half-finished publish, settled by a successor or by whoever needs the cells again (rows N of
// docs/recovery.md).
#include <array>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "partition_log/named_publisher.hpp"
#include "recovery/attachment.hpp"
#include "recovery/named_attachment.hpp"
#include "support/catch.hpp"
#include "support/plain_log.hpp"

using namespace ringmain;
using namespace ringmain::partition_log;
using platform::HostMemory;

namespace {

constexpr std::uint64_t kId = 77;
constexpr std::uint64_t kFirstOwner = std::uint64_t{1} << 32 | 1;
constexpr std::uint64_t kSecondOwner = std::uint64_t{1} << 32 | 2;
constexpr std::uint64_t kPlainOwner = std::uint64_t{1} << 32 | 3;

/// A partition of 16 cells, a named producer that stops somewhere by hand, and plain ones.
struct NamedLog {
    test::PlainLog<> plain;
    std::vector<std::uint64_t> dead;

    [[nodiscard]] auto& log() const noexcept { return plain.log; }
    [[nodiscard]] auto& entry() const noexcept { return plain.log.named[0]; }
    [[nodiscard]] std::uint64_t intent() const noexcept { return entry().hold.low.load(std::memory_order_acquire); }
    void intend(std::uint64_t offset, IntentState state, std::uint64_t sequence) const noexcept {
        entry().sequence.store(sequence, std::memory_order_release);
        entry().hold.low.store(intent_word(offset, state), std::memory_order_release);
    }
    [[nodiscard]] auto is_dead() const {
        return [this](std::uint64_t owner) {
            for (const std::uint64_t one : dead) {
                if (one == owner)
                    return true;
            }
            return false;
        };
    }
    [[nodiscard]] recovery::NameOutcome claim(std::uint64_t owner, std::string_view name = "stage") const {
        const auto dead_ones = is_dead();
        return recovery::NamedAttachment(log(), owner, dead_ones).claim(name, kId).outcome;
    }
    [[nodiscard]] std::uint64_t last() const noexcept { return entry().last.load(std::memory_order_acquire); }
    void publish_plain(int count) {
        plain.occupy(1, kPlainOwner);
        SharedPublisher<HostMemory> publisher(log(), 1, 1);
        for (int i = 0; i < count; ++i)
            REQUIRE(publisher.publish(test::parts_of("plain")).status == Status::ok);
    }
};

/// A producer that owns the name, at work by the steps of NamedPublisher.
struct Stopped : NamedLog {
    Stopped() {
        plain.occupy(0, kFirstOwner);
        REQUIRE(claim(kFirstOwner) == recovery::NameOutcome::claimed);
        publisher.emplace(log(), 0, 1);
        NamedPublisher<HostMemory> named(log(), entry());
        REQUIRE(named.publish(*publisher, test::parts_of("first"), 10).status == Status::ok);
    }
    std::uint64_t take() { return publisher->take_ticket().offset; }
    [[nodiscard]] recovery::NameOutcome succeed() {
        dead.push_back(kFirstOwner);
        return claim(kSecondOwner);
    }
    std::optional<SharedPublisher<HostMemory>> publisher;
};

}  // namespace

TEST_CASE("N1: a ticket taken and not intended changes nothing for the successor") {
    Stopped stopped;
    stopped.take();
    REQUIRE(stopped.succeed() == recovery::NameOutcome::claimed);
    CHECK(stopped.last() == 10);
}

TEST_CASE("N2: an intent whose ticket is open is closed, and nothing was committed") {
    const int others = GENERATE(0, 14, 15, 16, 17, 40);
    Stopped stopped;
    const std::uint64_t offset = stopped.take();
    stopped.intend(offset, IntentState::shared, 11);
    stopped.publish_plain(others);
    REQUIRE(stopped.succeed() == recovery::NameOutcome::claimed);
    CHECK(stopped.last() == 10);
    CHECK(stopped.intent() == 0);
    CHECK(decided(stopped.plain.word(offset), offset));
}

TEST_CASE("N3: a record committed and not noted is known to the successor, however many laps later") {
    const int others = GENERATE(0, 14, 15, 16, 17, 40);
    Stopped stopped;
    const std::uint64_t offset = stopped.take();
    stopped.intend(offset, IntentState::shared, 11);
    REQUIRE(stopped.publisher->commit_unless_passed(offset, test::parts_of("second"), kInCell));
    stopped.publish_plain(others);
    REQUIRE(stopped.succeed() == recovery::NameOutcome::claimed);
    CHECK(stopped.last() == 11);
    CHECK(stopped.intent() == 0);
}

TEST_CASE("N3: the intent is noted before the cell is used again, and not earlier") {
    Stopped stopped;
    const std::uint64_t offset = stopped.take();
    stopped.intend(offset, IntentState::shared, 11);
    REQUIRE(stopped.publisher->commit_unless_passed(offset, test::parts_of("second"), kInCell));
    stopped.publish_plain(15);
    CHECK(stopped.intent() == intent_word(offset, IntentState::shared));
    stopped.publish_plain(1);
    CHECK(stopped.intent() == intent_word(offset, IntentState::committed));
}

TEST_CASE("N4: a last sequence that was noted while the intent still stands is the same") {
    const int others = GENERATE(0, 40);
    Stopped stopped;
    const std::uint64_t offset = stopped.take();
    stopped.intend(offset, IntentState::shared, 11);
    REQUIRE(stopped.publisher->commit_unless_passed(offset, test::parts_of("second"), kInCell));
    stopped.entry().last.store(11, std::memory_order_release);
    stopped.publish_plain(others);
    REQUIRE(stopped.succeed() == recovery::NameOutcome::claimed);
    CHECK(stopped.last() == 11);
}

TEST_CASE("N5: an offset that the log start has passed before it was intended is given up") {
    Stopped stopped;
    const std::uint64_t offset = stopped.take();
    stopped.publish_plain(15);
    raise(stopped.log().control->log_start, offset + 1, std::memory_order_release);
    stopped.intend(offset, IntentState::shared, 11);
    CHECK_FALSE(stopped.publisher->commit_unless_passed(offset, test::parts_of("second"), kInCell));
    CHECK(decided(stopped.plain.word(offset), offset));
    CHECK(stopped.plain.word(offset) != cell_word(offset, CellState::committed));
}

TEST_CASE("N5: an intent that was written after its cell was used again means nothing") {
    Stopped stopped;
    const std::uint64_t offset = stopped.take();
    stopped.publish_plain(40);
    stopped.intend(offset, IntentState::shared, 11);
    REQUIRE(stopped.succeed() == recovery::NameOutcome::claimed);
    CHECK(stopped.last() == 10);
}

TEST_CASE("N6: a settler that wakes up late changes nothing") {
    Stopped stopped;
    const std::uint64_t offset = stopped.take();
    stopped.intend(offset, IntentState::shared, 11);
    const std::uint64_t seen = stopped.intent();
    REQUIRE(stopped.succeed() == recovery::NameOutcome::claimed);
    stopped.intend(offset + 1, IntentState::shared, 12);
    note_outcome(stopped.log(), stopped.entry(), seen);
    CHECK(stopped.intent() == intent_word(offset + 1, IntentState::shared));
}

TEST_CASE("N8: the first owner of an entry writes its name, and another name of the same id is refused") {
    const NamedLog named;
    named.entry().id.store(kId, std::memory_order_release);  // who gave the entry its id died right then
    REQUIRE(named.claim(kFirstOwner) == recovery::NameOutcome::claimed);
    named.entry().hold.high.store(0, std::memory_order_release);
    CHECK(named.claim(kFirstOwner, "other") == recovery::NameOutcome::collision);
    CHECK(named.claim(kFirstOwner, "stag") == recovery::NameOutcome::collision);
    CHECK(named.claim(kFirstOwner) == recovery::NameOutcome::claimed);
}

TEST_CASE("a name is held until its holder is proven dead") {
    NamedLog named;
    REQUIRE(named.claim(kFirstOwner) == recovery::NameOutcome::claimed);
    CHECK(named.claim(kSecondOwner) == recovery::NameOutcome::held);
    CHECK(named.claim(kFirstOwner) == recovery::NameOutcome::held);
    named.dead.push_back(kFirstOwner);
    CHECK(named.claim(kSecondOwner) == recovery::NameOutcome::claimed);
}

TEST_CASE("R7: an exclusive producer's intent is settled before its lease goes") {
    const bool committed = GENERATE(false, true);
    NamedLog named;
    const auto dead_ones = named.is_dead();
    recovery::Attachment first(named.log(), kFirstOwner, dead_ones);
    const recovery::Attached slot = first.attach_exclusive();
    REQUIRE(slot.outcome == recovery::AttachOutcome::attached);
    REQUIRE(named.claim(kFirstOwner) == recovery::NameOutcome::claimed);
    named.intend(0, IntentState::exclusive, 11);
    if (committed)
        named.plain.set_word(0, cell_word(0, CellState::committed));
    named.dead.push_back(kFirstOwner);
    recovery::Attachment second(named.log(), kSecondOwner, dead_ones);
    REQUIRE(second.attach_shared().outcome == recovery::AttachOutcome::attached);
    CHECK(named.intent() == (committed ? intent_word(0, IntentState::committed) : 0));
    named.publish_plain(40);  // also at offset 0, if it was free
    REQUIRE(named.claim(kSecondOwner) == recovery::NameOutcome::claimed);
    CHECK(named.last() == (committed ? 11 : 0));
}

TEST_CASE("R7: the intent of a live exclusive producer is left alone") {
    NamedLog named;
    REQUIRE(named.claim(kFirstOwner) == recovery::NameOutcome::claimed);
    named.intend(0, IntentState::exclusive, 11);
    const auto dead_ones = named.is_dead();
    recovery::settle_exclusive_intents(named.log(), dead_ones);
    CHECK(named.intent() == intent_word(0, IntentState::exclusive));
}

TEST_CASE("an intent that no sound log has is corrupt, and the cells are left alone") {
    Stopped stopped;
    const std::uint64_t end = stopped.plain.end();
    stopped.intend(end + 5, IntentState::shared, 11);
    CHECK(stopped.succeed() == recovery::NameOutcome::corrupt);
    CHECK(stopped.plain.word(end + 5) == 0);
}
