// A keeper, a creator and a deleter in processes of their own, killed at any instruction; a second keeper goes on from there.
//
// The quick run takes a sample of the instructions, RINGMAIN_LONG=1 many more (each point steps through all before it).
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>
#include <new>
#include <string>

#include "broker_impl.hpp"
#include "cases/open_ticket.hpp"
#include "crash/shared_bytes.hpp"
#include "crash/victim.hpp"
#include "platform/files.hpp"
#include "ringmain/ringmain.hpp"
#include "support/catch.hpp"
#include "support/child.hpp"
#include "support/scratch_directory.hpp"
#include "support/told.hpp"
#include "topic_paths.hpp"

using namespace ringmain;
using namespace ringmain::crash;
using namespace std::chrono_literals;

namespace {

constexpr const char* kTopic = "t";
constexpr std::uint64_t kInstructionsMax = 20'000'000;

/// Each point steps through all instructions before it, so that long operations get fewer in the quick run.
std::uint64_t points_of(std::uint64_t length) {
    constexpr std::uint64_t kLong = 400'000;
    if (std::getenv("RINGMAIN_LONG") != nullptr) return std::min<std::uint64_t>(length, 2'000);
    return length < kLong ? std::clamp<std::uint64_t>(2'000'000 / length, 8, 16) : 4;
}

TopicOptions small() {
    TopicOptions options;
    options.records = 64;
    options.producer_slots = 2;
    options.payload_bytes = 1 << 16;
    options.when_full = WhenFull::block;
    return options;
}

/// Stops where the parent can begin to count instructions.
void begin_here() { ::raise(SIGTRAP); }

/// Holds everything that there is to hold, but for the lease, and stops: a slot, an extent, an open ticket, a gate, a membership.
int hold_and_stop(const std::filesystem::path& directory) {
    const Broker broker(directory);
    Producer producer(broker, kTopic);
    const std::string large(1000, 'x');
    ProducerRecord record;
    record.value = as_bytes(large);
    if (producer.publish(record).status != Status::ok) return 1;
    Consumer reader(broker);
    reader.assign(kTopic);
    reader.hold_gates("reader");
    GroupOptions group;
    group.name = "group";
    group.gating = true;
    Consumer member(broker, group);
    member.subscribe(kTopic);
    (void)member.poll(1, 0ms);
    return test::take_tickets_and_stay(directory, kTopic, 1);
}

struct Point {
    test::ScratchDirectory scratch;
    SharedBytes shared{4096};
    std::atomic<std::uint32_t>& done = *new (shared.data()) std::atomic<std::uint32_t>(0);
    Broker broker{scratch.broker(), Broker::Mode::open_or_create};

    Point() { broker.create_topic(kTopic, small()); }

    /// Advances the victim from where it begins, and kills it there. Returns how many instructions it made.
    std::uint64_t kill_after(Victim& victim, std::uint64_t instructions) const {
        const std::uint64_t made = victim.step(instructions);
        victim.kill();
        return made;
    }

    /// A second keeper gives everything back that only the dead hold.
    [[nodiscard]] std::string keep_and_judge() {
        test::Told told;
        Keeper keeper(broker, told.listener());
        for (int i = 1; i <= 40; ++i) (void)keeper.do_work(i * 1s);
        std::string wrong;
        const auto expect = [&](bool right, const char* what) { wrong += right ? "" : std::string(what) + "; "; };
        expect(told.count(KeeperEventKind::topic_unreadable) == 0, "unreadable");
        expect(platform::names_in(staging_path(scratch.broker())).empty(), "something is left in staging");
        expect(platform::names_in(trash_path(scratch.broker())).empty(), "something is left in trash");
        for (const std::string& name : broker.list_topics()) {
            const PartitionDescription partition = broker.describe_topic(name).partitions.at(0);
            expect(partition.producers.empty(), "a producer");
            expect(partition.extents_owned == 0, "an extent");
            expect(partition.quarantined_cells == 0, "a cell");
            for (const GateDescription& gate : partition.gates) expect(gate.group, "a gate");
            for (const GroupSummary& group : GroupAdmin(broker).list(name)) expect(group.members == 0, "a member");
            expect(broker.verify(name).damage.empty() && broker.verify(name).open == 0, "damage or an open ticket");
        }
        return wrong;
    }
    [[nodiscard]] bool publishes(std::string_view topic) {
        Producer producer(broker, topic);
        ProducerRecord record;
        record.value = as_bytes("afterwards");
        return producer.try_publish(record).status == Status::ok;
    }
};

/// Kills at places that are evenly spread. `point(instructions)` makes one and returns how many there are at most.
std::uint64_t kill_at_points(const std::function<std::uint64_t(std::uint64_t)>& point) {
    stay_on_one_core();
    const std::uint64_t length = point(kInstructionsMax);
    REQUIRE(length > 0);
    REQUIRE(length < kInstructionsMax);
    const std::uint64_t points = points_of(length);
    for (std::uint64_t i = 0; i < points; ++i) {
        INFO("killed after " << length * i / points << " of " << length << " instructions");
        (void)point(length * i / points);
    }
    std::cout << "killed at " << points << " of " << length << " instructions\n";
    return points;
}

}  // namespace

TEST_CASE("step_kill: a keeper killed anywhere while it reaps leaves the rest to the next one") {
    if (const auto refused = stepping_refused()) SKIP(*refused);
    const auto point = [](std::uint64_t instructions) {
        Point place;
        auto holder = std::make_unique<test::Child>([&] { return hold_and_stop(place.scratch.broker()); });
        REQUIRE(test::wait_for_end(test::MappedLog(place.scratch.broker(), kTopic), 2));
        Victim victim(
            [&] {
                Keeper keeper{Broker(place.scratch.broker())};
                for (int i = 1; i <= 5; ++i) (void)keeper.do_work(i * 1s);
                begin_here();
                for (int i = 6; i <= 7; ++i) (void)keeper.do_work(i * 1s);
            },
            place.done);
        (void)victim.resume();
        holder->kill();
        const std::uint64_t made = place.kill_after(victim, instructions);
        CHECK(place.keep_and_judge().empty());
        CHECK(place.publishes(kTopic));
        return made;
    };
    CHECK(kill_at_points(point) > 0);
}

TEST_CASE("step_kill: a deleter killed anywhere leaves a topic or none, and what is left is swept") {
    if (const auto refused = stepping_refused()) SKIP(*refused);
    int gone = 0;
    const auto point = [&](std::uint64_t instructions) {
        Point place;
        Victim victim(
            [&] {
                Broker own(place.scratch.broker());
                begin_here();
                own.delete_topic(kTopic);
            },
            place.done);
        (void)victim.resume();
        const std::uint64_t made = place.kill_after(victim, instructions);
        CHECK(place.keep_and_judge().empty());
        if (place.broker.list_topics().empty()) {
            ++gone;
            CHECK_FALSE(std::filesystem::exists(topics_path(place.scratch.broker()) / kTopic));
            place.broker.create_topic(kTopic, small());
        }
        CHECK(place.publishes(kTopic));
        return made;
    };
    const std::uint64_t points = kill_at_points(point);
    CHECK(gone > 0);
    CHECK(static_cast<std::uint64_t>(gone) < points);
}

TEST_CASE("step_kill: a creator killed anywhere leaves a topic or none, and what is left is swept") {
    if (const auto refused = stepping_refused()) SKIP(*refused);
    int whole = 0;
    const auto point = [&](std::uint64_t instructions) {
        Point place;
        Victim victim(
            [&] {
                Broker own(place.scratch.broker());
                begin_here();
                own.create_topic("new", small());
            },
            place.done);
        (void)victim.resume();
        const std::uint64_t made = place.kill_after(victim, instructions);
        CHECK(place.keep_and_judge().empty());
        if (place.broker.list_topics().size() == 2) {
            ++whole;
        } else {
            CHECK_FALSE(std::filesystem::exists(topics_path(place.scratch.broker()) / "new"));
            place.broker.create_topic("new", small());
        }
        CHECK(place.publishes("new"));
        return made;
    };
    const std::uint64_t points = kill_at_points(point);
    CHECK(whole > 0);
    CHECK(static_cast<std::uint64_t>(whole) < points);
}

TEST_CASE("step_kill: a keeper killed anywhere while it takes up topics and sweeps leaves the rest to the next one") {
    if (const auto refused = stepping_refused()) SKIP(*refused);
    const auto point = [](std::uint64_t instructions) {
        Point place;
        {
            // killed in the middle of a creation and of a deletion
            test::Child maker([&] {
                const Broker own(place.scratch.broker());
                const std::string name = std::to_string(own.impl()->client().slot) + "-" + std::to_string(own.impl()->client().incarnation) + "-";
                for (const auto& parent : {staging_path(place.scratch.broker()), trash_path(place.scratch.broker())})
                    std::filesystem::copy(topics_path(place.scratch.broker()) / kTopic, parent / (name + "7"));
                ::raise(SIGKILL);
                return 0;
            });
            CHECK(maker.wait() == 128 + SIGKILL);
        }
        Victim victim(
            [&] {
                Keeper keeper{Broker(place.scratch.broker())};
                begin_here();
                (void)keeper.do_work(1s);
            },
            place.done);
        (void)victim.resume();
        const std::uint64_t made = place.kill_after(victim, instructions);
        CHECK(place.keep_and_judge().empty());
        CHECK(place.publishes(kTopic));
        return made;
    };
    CHECK(kill_at_points(point) > 0);
}
