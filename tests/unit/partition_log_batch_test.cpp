// Batches: one reservation, commits in order, and a lost ticket in the middle.
#include <algorithm>
#include <string>
#include <vector>

#include "partition_log/exclusive_publisher.hpp"
#include "partition_log/publisher.hpp"

#include "support/catch.hpp"
#include "support/hooked_memory.hpp"
#include "support/plain_log.hpp"

using namespace ringmain;
using namespace ringmain::partition_log;
using test::HookedMemory;
using test::PlainLog;
using test::PlainShape;

namespace {

using Log = PlainLog<HookedMemory>;

PlainShape batch_shape(std::uint32_t batch_records_max = 4, std::uint64_t records = 32) {
    PlainShape shape;
    shape.records = records;
    shape.producer_slots = 2;
    shape.extents = 4;
    shape.batch_records_max = batch_records_max;
    return shape;
}

struct Batch {
    std::vector<std::string> values;
    std::vector<RecordParts> parts;
    std::vector<std::uint64_t> offsets;

    explicit Batch(std::size_t count, std::size_t padding = 0) : offsets(count) {
        for (std::size_t i = 0; i < count; ++i)
            values.push_back(std::to_string(i) + std::string(padding, '.'));
        for (const std::string& value : values)
            parts.push_back(test::parts_of(value));
    }
};

// What a reader gets between the offsets, skipped ones left out.
template <class M>
std::vector<std::string> values_between(const LogMemory<M>& log, std::uint64_t from, std::uint64_t to) {
    std::vector<std::string> values;
    for (std::uint64_t o = from; o < to; ++o) {
        const test::ReadBack back = test::read_back(log, o);
        REQUIRE((back.found == Found::record || back.found == Found::skip));
        if (back.found == Found::record)
            values.push_back(back.value);
    }
    return values;
}

}  // namespace

TEST_CASE("a batch within the limit takes one run of offsets") {
    Log plain(batch_shape());
    SharedPublisher<HookedMemory> publisher(plain.log, 0, 1);
    Batch batch(4);
    std::uint64_t tickets_named = 0;
    const HookedMemory::Scope scope([&](std::string_view point) { tickets_named += point == "take.taken" ? 1 : 0; });
    const auto answer = publisher.publish_batch(batch.parts, batch.offsets);
    CHECK(answer.status == Status::ok);
    CHECK(answer.count == 4);
    CHECK(batch.offsets == std::vector<std::uint64_t>{0, 1, 2, 3});
    CHECK(tickets_named == 1);
    CHECK(plain.ticket(0) == kIdle);
    CHECK(plain.log.producers[0].count.load(std::memory_order_acquire) == 4);
}

TEST_CASE("a ticket lost in the middle of a batch gives up the rest of the run and keeps the order") {
    const std::uint64_t lost = GENERATE(0ULL, 1ULL, 2ULL, 3ULL);
    Log plain(batch_shape());
    SharedPublisher<HookedMemory> publisher(plain.log, 0, 1);
    Batch batch(4);
    const HookedMemory::Scope scope(
        HookedMemory::once_at("commit.written", [&] { CHECK(close_ticket(plain.log, lost) == Decision::closed); }));
    const auto answer = publisher.publish_batch(batch.parts, batch.offsets);
    CHECK(answer.status == Status::ok);
    CHECK(answer.count == 4);
    for (std::size_t i = 0; i < 4; ++i)
        CHECK(batch.offsets[i] == (i < lost ? i : 4 + i - lost));
    CHECK(values_between(plain.log, 0, plain.end()) == batch.values);
    for (std::uint64_t o = lost + 1; o < 4; ++o)
        CHECK(plain.word(o) == cell_word(o, CellState::released));
}

TEST_CASE("a batch that meets an open ticket of the lap before keeps its order") {
    Log plain(batch_shape());
    SharedPublisher<HookedMemory> publisher(plain.log, 0, 1);
    Tickets<HookedMemory> sleeper(plain.log, 1);
    Batch first(30);
    REQUIRE(publisher.publish_batch(first.parts, first.offsets).count == 30);
    const std::uint64_t open = sleeper.take();  // 30
    Batch second(32);
    REQUIRE(publisher.publish_batch(second.parts, second.offsets).status == Status::ok);
    CHECK(plain.word(open + 32) == cell_word(open + 32, CellState::quarantined));
    for (std::size_t i = 1; i < second.offsets.size(); ++i)
        CHECK(second.offsets[i] > second.offsets[i - 1]);
    CHECK(test::read_back(plain.log, second.offsets.back()).value == second.values.back());
}

TEST_CASE("a batch far longer than the ring is published whole on an overwrite topic") {
    const std::uint32_t run = GENERATE(1U, 4U);
    Log plain(batch_shape(run, 16));
    SharedPublisher<HookedMemory> publisher(plain.log, 0, 1);
    Batch batch(500);
    const auto answer = publisher.publish_batch(batch.parts, batch.offsets);
    CHECK(answer.status == Status::ok);
    CHECK(answer.count == 500);
    CHECK(plain.end() == 500);
}

TEST_CASE("a batch of large records is split where an extent ends, never inside a run") {
    Log plain(batch_shape());
    SharedPublisher<HookedMemory> publisher(plain.log, 0, 1);
    Batch batch(20, 300);  // three to an extent of 1 KiB
    const auto answer = publisher.publish_batch(batch.parts, batch.offsets);
    CHECK(answer.status == Status::ok);
    CHECK(answer.count == 20);
    const std::vector<std::string> read = values_between(plain.log, plain.start(), plain.end());
    REQUIRE(read.size() >= 9);  // four extents, the last one begun
    CHECK(std::equal(read.rbegin(), read.rend(), batch.values.rbegin()));
}

TEST_CASE("a large record of a batch is committed from its extent although its ticket was lost") {
    Log plain(batch_shape());
    SharedPublisher<HookedMemory> publisher(plain.log, 0, 1);
    Batch batch(3, 200);
    const HookedMemory::Scope scope(
        HookedMemory::once_at("commit.written", [&] { CHECK(close_ticket(plain.log, 1) == Decision::closed); }));
    CHECK(publisher.publish_batch(batch.parts, batch.offsets).count == 3);
    CHECK(values_between(plain.log, 0, plain.end()) == batch.values);
}

TEST_CASE("a batch on a block topic publishes what there is room for and says would_block") {
    PlainShape shape = batch_shape();
    shape.block = true;
    Log plain(shape);
    gate_table::GateTable<HookedMemory> gates(plain.log.readers);
    const auto gate = gates.claim(1, "slow");
    REQUIRE(gate);
    gates.hold(*gate, 0, plain.log.control->gate_floor);
    SharedPublisher<HookedMemory> publisher(plain.log, 0, 1);
    Batch batch(40);
    const auto answer = publisher.publish_batch(batch.parts, batch.offsets);
    CHECK(answer.status == Status::would_block);
    CHECK(answer.count == 24);  // 32 - slack of 8
    CHECK(plain.start() == 0);
    CHECK(values_between(plain.log, 0, plain.end()).size() == 24);
}

TEST_CASE("a batch with a record that is too large publishes those before it") {
    Log plain(batch_shape());
    SharedPublisher<HookedMemory> publisher(plain.log, 0, 1);
    Batch batch(4);
    const std::string large(1025, 'x');
    batch.parts[2] = test::parts_of(large);
    const auto answer = publisher.publish_batch(batch.parts, batch.offsets);
    CHECK(answer.status == Status::too_large);
    CHECK(answer.count == 2);
    CHECK(plain.end() == 2);
}

TEST_CASE("an exclusive producer's batch of large records goes through many extents") {
    Log plain(batch_shape(8));  // log_end moves less often than extents change
    ExclusivePublisher<HookedMemory> publisher(plain.log, 0, 1);
    Batch batch(40, 900);  // one to an extent
    const auto answer = publisher.publish_batch(batch.parts, batch.offsets);
    CHECK(answer.status == Status::ok);
    CHECK(answer.count == 40);
    CHECK(plain.end() == answer.count);
    CHECK(plain.start() <= plain.end());
    CHECK(test::read_back(plain.log, answer.count - 1).value == batch.values[answer.count - 1]);
}
