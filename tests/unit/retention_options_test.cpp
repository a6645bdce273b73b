// Retention through the broker: what limits are legal, how they change, and deleting records on request.
#include <chrono>
#include <string>

#include "broker_impl.hpp"
#include "file_stamp.hpp"
#include "ringmain/consumer.hpp"
#include "ringmain/producer.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/kept_partition.hpp"
#include "support/test_broker.hpp"
#include "topic_meta.hpp"
#include "topic_paths.hpp"
#include "topic_retention.hpp"

using namespace ringmain;
using namespace std::chrono_literals;
using test::publish;
using test::thrown_by;

namespace {

TopicOptions small(WhenFull when_full = WhenFull::overwrite) {
    TopicOptions options;
    options.records = 256;
    options.producer_slots = 4;
    options.payload_bytes = 0;
    options.when_full = when_full;
    return options;
}

}  // namespace

TEST_CASE("A limit of retention that is out of its range is refused with its name, value and range") {
    test::TestBroker place;
    place.broker.create_topic("t", small());
    struct Row {
        Retention retention;
        const char* text;
    };
    const Row row = GENERATE(Row{{99ms, 0, 0}, "topic 't': retention.age 99 ms is neither 0 nor 100 to 3153600000000 ms"},
                             Row{{-1ms, 0, 0}, "topic 't': retention.age -1 ms is neither 0 nor 100 to 3153600000000 ms"},
                             Row{{std::chrono::hours(24 * 36'500) + 1ms, 0, 0}, "topic 't': retention.age 3153600000001 ms is"},
                             Row{{0ms, kRetentionRecordsMax + 1, 0}, "topic 't': retention.records 268435457 is neither 0 nor 1 to 268435456"},
                             Row{{0ms, 0, kRetentionBytesMax + 1}, "topic 't': retention.bytes 1099511627777 is neither 0 nor 1 to 1099511627776"});
    const auto set = thrown_by([&] { place.broker.set_retention("t", row.retention); return 0; });
    CHECK(set.code == ErrorCode::invalid_argument);
    CHECK_THAT(set.text, test::contains(row.text));
    TopicOptions options = small();
    options.retention = row.retention;
    const auto created = thrown_by([&] { return place.broker.create_topic("u", options); });
    CHECK(created.code == ErrorCode::invalid_argument);
    CHECK(place.broker.list_topics().size() == 1);
}

TEST_CASE("Limits are kept from the creation on, can be changed, and are shown") {
    test::TestBroker place;
    TopicOptions options = small();
    options.retention = {90s, 1000, 1 << 20};
    CHECK(place.broker.create_topic("t", options).options.retention == options.retention);
    const Retention other{7 * 24h, 0, 5};
    place.broker.set_retention("t", other);
    CHECK(place.broker.describe_topic("t").options.retention == other);
    CHECK(place.broker.verify().damage.empty());
    CHECK(thrown_by([&] { place.broker.set_retention("none", other); return 0; }).code == ErrorCode::not_found);
}

TEST_CASE("A topic that exists with other limits of retention is the same topic") {
    test::TestBroker place;
    TopicOptions options = small();
    place.broker.create_topic("t", options);
    options.retention.records = 7;
    CHECK(place.broker.ensure_topic("t", options).options.retention.records == 0);
}

TEST_CASE("A word of a limit that is damaged is no limit for whoever has the topic open, and damage for whoever opens it") {
    test::TestBroker place;
    TopicOptions options = small();
    options.retention = {1s, 5, 5};
    place.broker.create_topic("t", options);
    const auto files = place.broker.impl()->open_topic("t");
    const platform::Mapping meta(meta_path(files->directory()), platform::Access::read_write, layout::kTopicFileBytes);
    topic_meta(meta).retention_records.store(~std::uint64_t{0}, std::memory_order_relaxed);
    CHECK(files->retention() == Retention{1s, 0, 5});
    const auto opened = thrown_by([&] { return place.broker.describe_topic("t"); });
    CHECK(opened.code == ErrorCode::corrupt);
    CHECK_THAT(opened.text, test::contains("retention.records"));
    CHECK_FALSE(place.broker.verify().damage.empty());
}

TEST_CASE("Records are deleted up to an offset, of both policies, and readers get their gap") {
    test::TestBroker place;
    place.broker.create_topic("t", small(GENERATE(WhenFull::overwrite, WhenFull::block)));
    publish(place.broker, "t", 20);
    Consumer reader(place.broker);
    reader.assign("t");
    const RecordsDeleted deleted = place.broker.delete_records("t", 0, 15);
    CHECK(deleted.from == 0);
    CHECK(deleted.to == 15);
    CHECK(deleted.holder.empty());
    const PollResult read = reader.poll();
    REQUIRE(read.gaps.size() == 1);
    CHECK(read.gaps[0].count() == 15);
    CHECK(read.records.size() == 5);
    CHECK(place.broker.verify().damage.empty());

    const RecordsDeleted again = place.broker.delete_records("t", 0, 3);
    CHECK(again.from == 15);
    CHECK(again.to == 15);
    CHECK(place.broker.delete_records("t", 0, 20).to == 20);
    publish(place.broker, "t", 300);
    CHECK(reader.poll().records.size() > 0);
}

TEST_CASE("A deletion beyond the log end, of no partition or of no topic is refused") {
    test::TestBroker place;
    place.broker.create_topic("t", small());
    publish(place.broker, "t", 20);
    const auto beyond = thrown_by([&] { return place.broker.delete_records("t", 0, 21); });
    CHECK(beyond.code == ErrorCode::invalid_argument);
    CHECK_THAT(beyond.text, test::contains("topic 't' partition 0: offset 21 is beyond the log end 20"));
    CHECK(place.broker.describe_topic("t").partitions[0].log_start == 0);
    CHECK(thrown_by([&] { return place.broker.delete_records("t", 1, 0); }).code == ErrorCode::not_found);
    CHECK(thrown_by([&] { return place.broker.delete_records("u", 0, 0); }).code == ErrorCode::not_found);
}

TEST_CASE("A deletion stops at the lowest gate and says whose it is") {
    test::TestBroker place;
    place.broker.create_topic("t", small(WhenFull::block));
    publish(place.broker, "t", 20);
    Consumer reader(place.broker);
    reader.assign("t", Position::at(12));
    reader.hold_gates("audit");
    const RecordsDeleted deleted = place.broker.delete_records("t", 0, 20);
    CHECK(deleted.to == 12);
    CHECK_THAT(deleted.holder, test::contains("gate 'audit' of client"));
    REQUIRE(reader.poll().records.size() == 8);
    reader.move_gates();
    CHECK(place.broker.delete_records("t", 0, 20).to == 20);
}

TEST_CASE("Verify names a mark beyond the log end, and a keeper does without it") {
    test::TestBroker place;
    TopicOptions options = small();
    options.retention = {200ms, 0, 1000};
    place.broker.create_topic("t", options);
    publish(place.broker, "t", 20);
    test::KeptPartition kept(place.broker, "t");
    kept.run(50ms);
    const auto files = place.broker.impl()->open_topic("t");
    const platform::Mapping file = files->map_partition(0, platform::Access::read_write);
    auto& marks = *reinterpret_cast<layout::PartitionMarks<platform::HostMemory>*>(file.data() + layout::kMarksAt);
    const bool ages = GENERATE(true, false);
    auto& ring = ages ? marks.ages : marks.sizes;
    const std::uint64_t written = ring.written.load(std::memory_order_acquire);
    REQUIRE(written > 0);
    ring.marks[(written - 1) % layout::kMarks].offset.store(21, std::memory_order_release);
    const VerifyReport report = place.broker.verify("t");
    REQUIRE(report.damage.size() == 1);
    CHECK_THAT(report.damage[0].what, test::contains(std::string("newest mark of ") + (ages ? "ages" : "sizes") + " is at offset 21"));
    kept.restart();
    CHECK(kept.run(1s) == 20);
    CHECK(place.broker.verify("t").damage.empty());
}
