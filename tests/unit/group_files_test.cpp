// The groups file of a topic: made with it, checked when it is opened, ended with it, and kept by the keeper.
#include <fstream>

#include "broker_impl.hpp"
#include "group_table/creation.hpp"
#include "group_table/membership.hpp"
#include "ringmain/keeper.hpp"
#include "ringmain/producer.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/test_broker.hpp"
#include "topic_files.hpp"
#include "topic_paths.hpp"

using namespace ringmain;
using namespace ringmain::group_table;
using platform::HostMemory;
using test::thrown_by;

namespace {

TopicOptions small() {
    TopicOptions options;
    options.partitions = 2;
    options.records = 64;
    options.producer_slots = 2;
    options.payload_bytes = 0;
    options.groups = 3;
    options.members = 5;
    return options;
}

struct Place : test::TestBroker {
    explicit Place(const TopicOptions& options = small()) { broker.create_topic("t", options); }
    [[nodiscard]] std::filesystem::path topic() const { return topics_path(scratch.broker()) / "t"; }
    [[nodiscard]] TopicFiles files() const { return {topic(), "t"}; }
    [[nodiscard]] static auto nobody_is_dead() {
        return [](std::uint64_t) { return false; };
    }
    static Found create(const TopicFiles& files, const GroupOptions& options = {}) {
        GroupCreation<HostMemory> creation(files.groups(), 1);
        return creation.find_or_create("g", options, [](std::uint32_t) { return std::uint64_t{0}; }, nobody_is_dead());
    }
};

void write_at(const std::filesystem::path& path, std::uint64_t at, std::uint32_t value) {
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(static_cast<std::streamoff>(at));
    file.write(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace

TEST_CASE("A topic's groups file has the geometry of its options and counts in its size") {
    Place place;
    const TopicFiles files = place.files();
    CHECK(files.groups_writable());
    CHECK(files.groups().partitions() == 2);
    CHECK(files.groups().groups_max() == 3);
    CHECK(files.groups().members_max() == 5);
    const std::uint64_t bytes = std::filesystem::file_size(groups_path(place.topic()));
    CHECK(bytes == layout::groups_file_bytes(groups_geometry_for(small())));
    std::uint64_t all = 0;
    for (const auto& file : std::filesystem::directory_iterator(place.topic())) all += file.file_size();
    CHECK(place.broker.describe_topic("t").bytes >= all);
    CHECK(place.broker.describe_topic("t").options.groups == 3);
    CHECK(place.broker.describe_topic("t").options.members == 5);
}

TEST_CASE("Groups and members outside of 1 to 64 are refused, and others than the topic's are a mismatch") {
    Place place;
    for (const std::uint32_t wrong : {0U, 65U}) {
        TopicOptions options = small();
        options.groups = wrong;
        CHECK(thrown_by([&] { return place.broker.create_topic("u", options); }).code == ErrorCode::invalid_argument);
        options = small();
        options.members = wrong;
        CHECK(thrown_by([&] { return place.broker.create_topic("u", options); }).code == ErrorCode::invalid_argument);
    }
    TopicOptions options = small();
    options.groups = options.members = 64;
    CHECK_FALSE(thrown_by([&] { return place.broker.create_topic("u", options); }).code);
}

TEST_CASE("A groups file that is missing, too short, of another geometry or another topic is refused") {
    {
        Place place;
        std::filesystem::remove(groups_path(place.topic()));
        CHECK(thrown_by([&] { return place.files(); }).code == ErrorCode::corrupt);
    }
    {
        Place place;
        std::filesystem::resize_file(groups_path(place.topic()), 4096);
        CHECK(thrown_by([&] { return place.files(); }).code == ErrorCode::corrupt);
    }
    {
        Place place;
        write_at(groups_path(place.topic()), layout::kGroupsGeometryAt + 8, 6);
        const test::Thrown thrown = thrown_by([&] { return place.files(); });
        CHECK(thrown.code == ErrorCode::corrupt);
        CHECK_THAT(thrown.text, test::contains("another geometry"));
    }
    {
        Place place;
        place.broker.create_topic("u", small());
        std::filesystem::copy_file(groups_path(topics_path(place.scratch.broker()) / "u"), groups_path(place.topic()),
                                   std::filesystem::copy_options::overwrite_existing);
        CHECK(thrown_by([&] { return place.files(); }).code == ErrorCode::corrupt);
    }
}

TEST_CASE("Groups end with their topic, and an old handle cannot reach a new topic of the same name") {
    Place place;
    const TopicFiles old = place.files();
    const Found group = Place::create(old);
    Membership<HostMemory> member(old.groups(), group.group, 1, {});
    const auto floors = [](std::uint32_t) -> const std::atomic<std::uint64_t>& {
        static const std::atomic<std::uint64_t> none{0};
        return none;
    };
    CHECK(member.join(Place::nobody_is_dead(), floors) == JoinStatus::joined);
    const Acquired got = member.positions().acquire(0, 1);
    place.broker.delete_topic("t");
    place.broker.create_topic("t", small());
    CHECK(old.groups().dead());
    CHECK(member.look().status == LookStatus::group_deleted);
    CommitItem item;
    item.tenure = {0, got.generation};
    CHECK_FALSE(member.positions().commit({&item, 1}, floors, 1));
    CHECK(item.status == CommitStatus::fenced);
    CHECK(Place::create(old).status == FindStatus::topic_deleted);
    const TopicFiles fresh = place.files();
    CHECK_FALSE(fresh.groups().dead());
    CHECK(Place::create(fresh).status == FindStatus::created);
}

TEST_CASE("Publishing to a block topic waits for a group that gates, and names it") {
    TopicOptions options = small();
    options.when_full = WhenFull::block;
    Place place(options);
    const TopicFiles files = place.files();
    const Found group = Place::create(files, {.gating = true});
    Producer producer(place.broker, "t");
    ProducerRecord record;
    record.partition = 0;
    record.value = as_bytes("x");
    Status status = Status::ok;
    for (int i = 0; i < 100 && status == Status::ok; ++i) status = producer.try_publish(record).status;
    CHECK(status == Status::would_block);
    const auto gate = producer.blocking_gate(0);
    REQUIRE(gate);
    CHECK(gate->name == "g");
    CHECK(gate->group);
    CHECK(gate->offset == 0);
    CHECK(delete_group(files.groups(), group.group, false) == DeleteStatus::deleted);
    CHECK(producer.try_publish(record).status == Status::ok);
}

TEST_CASE("The keeper evicts a member that is silent for its session time-out, and lets old groups go") {
    TopicOptions options = small();
    options.when_full = WhenFull::block;
    Place place(options);
    const TopicFiles files = place.files();
    const Found group = Place::create(files, {.gating = true, .lag_ms_max = 1});
    Producer producer(place.broker, "t");
    ProducerRecord record;
    record.partition = 0;
    record.timestamp_ns = 1;  // old
    record.value = as_bytes("x");
    CHECK(producer.publish(record).status == Status::ok);
    Keeper keeper(place.broker);
    const auto client = place.broker.impl()->client().word();  // alive
    Membership<HostMemory> member(files.groups(), group.group, client, {{}, 1000});
    const auto floors = [](std::uint32_t) -> const std::atomic<std::uint64_t>& {
        static const std::atomic<std::uint64_t> none{0};
        return none;
    };
    CHECK(member.join(Place::nobody_is_dead(), floors) == JoinStatus::joined);
    std::uint64_t evicted = 0;
    std::uint64_t let_go = 0;
    for (int second = 1; second < 20; ++second) {
        const KeeperReport report = keeper.do_work(std::chrono::seconds(second));
        evicted += report.evicted_members;
        let_go += report.let_go;
    }
    CHECK(evicted == 1);
    CHECK(let_go == 1);
    CHECK(member.look().status == LookStatus::evicted);
}

TEST_CASE("Verify finds words of groups that nobody would write, and nothing in sound ones") {
    Place place;
    const TopicFiles files = place.files();
    const Found group = Place::create(files);
    Membership<HostMemory> member(files.groups(), group.group, place.broker.impl()->client().word(), {});
    static const std::atomic<std::uint64_t> none{0};
    const auto floors = [](std::uint32_t) -> const std::atomic<std::uint64_t>& { return none; };
    REQUIRE(member.join(Place::nobody_is_dead(), floors) == JoinStatus::joined);
    REQUIRE(member.positions().acquire(0, 1).status == AcquireStatus::acquired);
    CHECK(place.broker.verify().damage.empty());

    const auto found = [&] {
        const VerifyReport report = place.broker.verify("t");
        REQUIRE(report.damage.size() == 1);
        CHECK(report.damage[0].file == groups_path(place.topic()).string());
        return report.damage[0].what;
    };
    auto& slot = files.groups().group(group.group.slot);
    SECTION("the name") {
        slot.name[0].store(0x616161, std::memory_order_release);
        CHECK_THAT(found(), test::contains("name does not belong to its hash"));
        slot.name_length.store(201, std::memory_order_release);
        CHECK_THAT(found(), test::contains("201 bytes"));
    }
    SECTION("the members") {
        slot.set.low.fetch_or(std::uint64_t{1} << 5, std::memory_order_acq_rel);
        CHECK_THAT(found(), test::contains("outside of the 5 member slots"));
        slot.set.low.store(1 << member.slot() | 1 << 4, std::memory_order_release);
        CHECK_THAT(found(), test::contains("member slot 4 is free"));
    }
    SECTION("an owner") {
        auto& word = files.groups().cell(group.group.slot, 1).word;
        word.high.store(std::uint64_t{7} << 32 | 200, std::memory_order_release);
        CHECK_THAT(found(), test::contains("partition 1 is owned by member slot 199"));
        word.high.store(1, std::memory_order_release);
        CHECK_THAT(found(), test::contains("without a generation"));
    }
    SECTION("the directory") {
        files.groups().control().dir.high.store(9, std::memory_order_release);
        CHECK_THAT(found(), test::contains("decided for slot 8"));
    }
}
