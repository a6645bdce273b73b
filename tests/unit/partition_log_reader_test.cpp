// Reading one offset: every answer, and bytes that no producer would have written.
#include "partition_log/reader.hpp"

#include <cstring>
#include <string>

#include "partition_log/publisher.hpp"
#include "support/catch.hpp"
#include "support/hooked_memory.hpp"
#include "support/plain_log.hpp"

using namespace ringmain;
using namespace ringmain::partition_log;
using test::HookedMemory;
using test::PlainLog;

namespace {

using Log = PlainLog<HookedMemory>;

Found look(const Log& plain, std::uint64_t offset) {
    RecordView view;
    return Reader<HookedMemory>(plain.log).look(offset, view);
}

// A committed cell at offset 0 with the given shape.
void plant(const Log& plain, std::uint32_t length, std::uint16_t key_bytes, std::uint16_t flags,
           std::uint64_t location = 0) {
    auto& cell = plain.log.cell(0);
    cell.shape.store(pack_shape(length, key_bytes, flags), std::memory_order_relaxed);
    std::memcpy(cell.inline_bytes(), &location, sizeof location);
    plain.set_word(0, cell_word(0, CellState::committed));
}

}  // namespace

TEST_CASE("a reader tells what every word of a cell means to its offset") {
    Log plain;
    const std::uint64_t offset = 20;  // second lap
    plain.log.control->log_end.store(21, std::memory_order_release);
    plain.log.control->log_start.store(5, std::memory_order_release);
    const auto answer = [&](std::uint64_t word) {
        plain.set_word(offset, word);
        return look(plain, offset);
    };
    CHECK(answer(0) == Found::nothing);
    for (const CellState state : {CellState::committed, CellState::quarantined, CellState::released}) {
        CHECK(answer(cell_word(4, state)) == Found::nothing);  // one lap before
    }
    CHECK(answer(cell_word(20, CellState::committed)) == Found::record);
    CHECK(answer(cell_word(20, CellState::quarantined)) == Found::skip);
    CHECK(answer(cell_word(20, CellState::released)) == Found::skip);
    CHECK(answer(cell_word(20, CellState::unused)) == Found::corrupt);
    plain.log.control->log_start.store(21, std::memory_order_release);
    for (const CellState state : {CellState::committed, CellState::quarantined, CellState::released}) {
        CHECK(answer(cell_word(36, state)) == Found::lapped);
    }
}

TEST_CASE("a later word without a moved log start is damage") {
    Log plain;
    for (const CellState state : {CellState::committed, CellState::quarantined, CellState::released}) {
        plain.set_word(3, cell_word(19, state));
        CHECK(look(plain, 3) == Found::corrupt);
    }
    plain.set_word(3, ~std::uint64_t{0});
    CHECK(look(plain, 3) == Found::corrupt);
}

TEST_CASE("a record that the log start passes while it is copied is not valid") {
    Log plain;
    SharedPublisher<HookedMemory> publisher(plain.log, 0, 1);
    REQUIRE(publisher.publish(test::parts_of("first")).status == Status::ok);
    const Reader<HookedMemory> reader(plain.log);
    RecordView view;
    REQUIRE(reader.look(0, view) == Found::record);
    CHECK(reader.valid(0));
    for (int i = 0; i < 16; ++i)
        REQUIRE(publisher.publish(test::parts_of("other")).status == Status::ok);
    CHECK_FALSE(reader.valid(0));
    CHECK(reader.look(0, view) == Found::lapped);
}

TEST_CASE("lengths beyond the cell are damage while the record is there and a lapped record after it") {
    Log plain;
    plant(plain, 41, 0, 0);
    CHECK(look(plain, 0) == Found::corrupt);
    plant(plain, ~0U, 0, 0);
    CHECK(look(plain, 0) == Found::corrupt);
    plain.log.control->log_start.store(1, std::memory_order_release);
    CHECK(look(plain, 0) == Found::lapped);
}

TEST_CASE("a body must lie inside the payload area") {
    Log plain;
    const std::uint64_t payload = plain.log.payload_bytes;
    const auto in_extent = static_cast<std::uint16_t>(layout::kInExtent | layout::kNullKey);
    plant(plain, 64, 0, in_extent, payload - 64);
    CHECK(look(plain, 0) == Found::record);
    for (const std::uint64_t location :
         {payload - 63, payload, payload + 1, ~std::uint64_t{0}, ~std::uint64_t{0} - 63}) {
        plant(plain, 64, 0, in_extent, location);
        CHECK(look(plain, 0) == Found::corrupt);
    }
    plant(plain, static_cast<std::uint32_t>(payload) + 1, 0, in_extent, 0);
    CHECK(look(plain, 0) == Found::corrupt);
}

TEST_CASE("a body is never longer than the topic's largest record") {
    Log plain;
    const auto in_extent = static_cast<std::uint16_t>(layout::kInExtent | layout::kNullKey);
    plant(plain, 1024, 0, in_extent, 0);
    CHECK(look(plain, 0) == Found::record);
    plant(plain, 1025, 0, in_extent, 0);
    CHECK(look(plain, 0) == Found::corrupt);
}

TEST_CASE("key, headers and flags must fit the body") {
    Log plain;
    plant(plain, 10, 11, 0);
    CHECK(look(plain, 0) == Found::corrupt);  // key longer than the body
    plant(plain, 10, 10, 0);
    CHECK(look(plain, 0) == Found::record);
    plant(plain, 10, 1, layout::kNullKey);
    CHECK(look(plain, 0) == Found::corrupt);  // a null key has no bytes
    plant(plain, 10, 1, layout::kNullValue);
    CHECK(look(plain, 0) == Found::corrupt);  // a null value has no bytes
    plant(plain, 10, 10, layout::kNullValue);
    CHECK(look(plain, 0) == Found::record);
    plant(plain, 3, 0, layout::kHasHeaders);
    CHECK(look(plain, 0) == Found::corrupt);  // no room for the headers' length
    for (unsigned flags = 16; flags <= 0x8000; flags <<= 1) {
        plant(plain, 10, 0, static_cast<std::uint16_t>(flags));
        CHECK(look(plain, 0) == Found::corrupt);
    }
}

TEST_CASE("the headers' length must fit the rest of the body") {
    Log plain;
    for (const std::uint32_t headers : {0U, 1U, 16U, 17U, ~0U}) {
        plant(plain, 20, 0, layout::kHasHeaders);
        std::memcpy(plain.log.cell(0).inline_bytes() + 16, &headers, sizeof headers);
        CHECK(look(plain, 0) == (headers <= 16 ? Found::record : Found::corrupt));
    }
}

TEST_CASE("key, value and headers come apart as they were put together") {
    Log plain;
    SharedPublisher<HookedMemory> publisher(plain.log, 0, 1);
    const std::string value(300, 'v');
    const std::string key = "the key";
    const std::string headers = std::string("\x01\x00\x02\x00\x00\x00", 6) + "nVV";
    RecordParts parts = test::parts_of(value, -5);
    parts.flags = layout::kHasHeaders;
    parts.key = reinterpret_cast<const std::byte*>(key.data());
    parts.key_bytes = static_cast<std::uint16_t>(key.size());
    parts.headers = reinterpret_cast<const std::byte*>(headers.data());
    parts.headers_bytes = static_cast<std::uint32_t>(headers.size());
    REQUIRE(publisher.publish(parts).status == Status::ok);
    RecordView view;
    REQUIRE(Reader<HookedMemory>(plain.log).look(0, view) == Found::record);
    const auto text = [](const std::byte* from, std::size_t bytes) {
        return std::string(reinterpret_cast<const char*>(from), bytes);
    };
    CHECK(text(view.body, view.value_bytes) == value);
    CHECK(text(view.key(), view.key_bytes) == key);
    CHECK(text(view.headers(), view.headers_bytes) == headers);
    CHECK(count_headers(view.headers(), view.headers_bytes) == 1);
    CHECK(view.timestamp_ns == -5);
    CHECK_FALSE(view.null_key());
}

TEST_CASE("null and empty keys and values are told apart") {
    Log plain;
    SharedPublisher<HookedMemory> publisher(plain.log, 0, 1);
    for (const unsigned flags : {0U, unsigned{layout::kNullKey}, unsigned{layout::kNullValue},
                                 layout::kNullKey | unsigned{layout::kNullValue}}) {
        RecordParts parts = test::parts_of("");
        parts.flags = static_cast<std::uint16_t>(flags);
        const Published published = publisher.publish(parts);
        RecordView view;
        REQUIRE(Reader<HookedMemory>(plain.log).look(published.offset, view) == Found::record);
        CHECK(view.length == 0);
        CHECK(view.null_key() == ((flags & layout::kNullKey) != 0));
        CHECK(view.null_value() == ((flags & layout::kNullValue) != 0));
    }
}
