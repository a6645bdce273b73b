// A producer stores nowhere but in its own extents: under AddressSanitizer everybody else's payload is poisoned meanwhile.
#include <string>

#include "partition_log/publisher.hpp"
#include "support/catch.hpp"
#include "support/child.hpp"
#include "support/foreign_extents.hpp"
#include "support/plain_log.hpp"

using namespace ringmain;
using namespace ringmain::partition_log;
using test::ForeignExtents;
using test::OwnExtentMemory;
using test::PlainLog;
using test::PlainShape;

namespace {

using Log = PlainLog<OwnExtentMemory>;
using Publisher = SharedPublisher<OwnExtentMemory>;

PlainShape two_producers() {
    PlainShape shape;
    shape.records = 64;
    shape.producer_slots = 2;
    shape.extents = 4;
    return shape;
}

std::string value_of(std::uint64_t id) { return std::to_string(id) + std::string(id * 37 % 900, '#'); }

}  // namespace

TEST_CASE("producers that change their extents many times store in no extent of anybody else") {
    if (!ForeignExtents::enforced())
        SKIP("only AddressSanitizer can poison memory");
    Log plain(two_producers());
    Publisher first(plain.log, 0, 1);
    Publisher second(plain.log, 1, 1);
    for (std::uint64_t i = 0; i < 400; ++i) {
        const std::string value = value_of(i);
        const std::uint32_t slot = i % 3 == 0 ? 1 : 0;
        const ForeignExtents foreign(plain.log, slot, 1);
        REQUIRE((slot == 0 ? first : second).publish(test::parts_of(value)).status == Status::ok);
    }
    CHECK(test::read_back(plain.log, 399).value == value_of(399));
}

TEST_CASE("a stray store into an extent of another producer is reported") {
    if (!ForeignExtents::enforced())
        SKIP("only AddressSanitizer can poison memory");
    Log plain(two_producers());
    Publisher first(plain.log, 0, 1);
    Publisher second(plain.log, 1, 1);
    const std::string value(500, 'x');
    REQUIRE(first.publish(test::parts_of(value)).status == Status::ok);
    REQUIRE(second.publish(test::parts_of(value)).status == Status::ok);
    REQUIRE(plain.extent(1) == owned_extent(1, 1));
    const auto store_at = [&](std::uint64_t position) {
        test::Child child([&] {
            const ForeignExtents foreign(plain.log, 0, 1);
            OwnExtentMemory::copy_in(plain.log.payload + position, value.data(), value.size());
            return 0;
        });
        return child.wait();
    };
    CHECK(store_at(0) == 0);  // its own
    CHECK(store_at(plain.log.extent_bytes) == ForeignExtents::kReported);
    CHECK(store_at(plain.log.extent_bytes - 100) == ForeignExtents::kReported);  // runs over the end of its own
    CHECK(store_at(3 * plain.log.extent_bytes) == ForeignExtents::kReported);    // nobody's
}
