// A keeper, a creator and a deleter in processes of their own, killed after each effect, which is as good as at each instruction
// (effects.hpp says why); a second keeper goes on from there.
//
// RINGMAIN_LONG=1 kills at many instructions as well, effect or not (each point steps through all before it).
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iostream>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "broker_impl.hpp"
#include "cases/open_ticket.hpp"
#include "crash/shared_bytes.hpp"
#include "crash/stride.hpp"
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

constexpr std::uint64_t kEffectsMax = 100'000;
constexpr std::uint64_t kSampleMax = 2'000;

/// How far a victim gets in its operation, and what it was stopped at on the way.
struct Way {
    StrideUnit unit;
    std::uint64_t points;
    std::vector<std::uint64_t> trace;
};

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

    /// Runs an operation in a process of its own as far as the way goes, and kills it there. Once the process is at its mark,
    /// `beside` is done. Says how far it got.
    Way kill(const Way& way, const std::function<void()>& operation, const std::function<void()>& beside = {}) const {
        Victim victim(operation, done);
        Stride stride(victim, way.unit);
        REQUIRE(stride.go_to_mark());
        if (beside) beside();
        const std::uint64_t made = stride.advance(way.points);
        if (made < way.points) CHECK(victim.done());
        victim.kill();
        return {way.unit, made, stride.trace()};
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

/// Kills at places that are evenly spread, or all. `kill` goes a way and says how far it got.
std::uint64_t kill_along(const std::function<Way(const Way&)>& kill, const Way& longest, std::uint64_t stops_max) {
    const Way whole = kill(longest);
    REQUIRE(whole.points > 0);
    REQUIRE(whole.points < longest.points);
    const std::uint64_t stops = std::min(whole.points, stops_max);
    for (std::uint64_t i = 0; i < stops; ++i) {
        const std::uint64_t points = whole.points * i / stops;
        INFO("killed after " << points << " of " << whole.points);
        const Way way = kill({whole.unit, points, {}});
        CHECK(way.points == points);
        CHECK(std::equal(way.trace.begin(), way.trace.end(), whole.trace.begin()));  // it is the same operation
    }
    std::cout << "killed at " << stops + 1 << " of " << whole.points + 1 << (whole.unit == StrideUnit::effect ? " effects\n" : " instructions\n");
    return stops + 1;
}

std::uint64_t kill_at_points(const std::function<Way(const Way&)>& kill) {
    stay_on_one_core();
    std::uint64_t kills = 0;
    if (!effects_refused()) kills += kill_along(kill, {StrideUnit::effect, kEffectsMax, {}}, kEffectsMax);
    if (std::getenv("RINGMAIN_LONG") != nullptr) kills += kill_along(kill, {StrideUnit::instruction, kInstructionsMax, {}}, kSampleMax);
    return kills;
}

}  // namespace

TEST_CASE("step_kill: a keeper killed anywhere while it reaps leaves the rest to the next one") {
    if (const auto refused = stepping_refused()) SKIP(*refused);
    const auto kill = [](const Way& way) {
        Point place;
        test::Child holder([&] { return hold_and_stop(place.scratch.broker()); });
        REQUIRE(test::wait_for_end(test::MappedLog(place.scratch.broker(), kTopic), 2));
        const auto reap = [&] {
            Keeper keeper{Broker(place.scratch.broker())};
            for (int i = 1; i <= 5; ++i) (void)keeper.do_work(i * 1s);
            begin_here();
            for (int i = 6; i <= 7; ++i) (void)keeper.do_work(i * 1s);
        };
        Way made = place.kill(way, reap, [&] { holder.kill(); });
        CHECK(place.keep_and_judge() == "");
        CHECK(place.publishes(kTopic));
        return made;
    };
    CHECK(kill_at_points(kill) > 0);
}

TEST_CASE("step_kill: a deleter killed anywhere leaves a topic or none, and what is left is swept") {
    if (const auto refused = stepping_refused()) SKIP(*refused);
    int gone = 0;
    const auto kill = [&](const Way& way) {
        Point place;
        Way made = place.kill(way, [&] {
            Broker own(place.scratch.broker());
            begin_here();
            own.delete_topic(kTopic);
        });
        CHECK(place.keep_and_judge() == "");
        if (place.broker.list_topics().empty()) {
            ++gone;
            CHECK_FALSE(std::filesystem::exists(topics_path(place.scratch.broker()) / kTopic));
            place.broker.create_topic(kTopic, small());
        }
        CHECK(place.publishes(kTopic));
        return made;
    };
    const std::uint64_t kills = kill_at_points(kill);
    CHECK(gone > 0);
    CHECK(static_cast<std::uint64_t>(gone) < kills);
}

TEST_CASE("step_kill: a creator killed anywhere leaves a topic or none, and what is left is swept") {
    if (const auto refused = stepping_refused()) SKIP(*refused);
    int whole = 0;
    const auto kill = [&](const Way& way) {
        Point place;
        Way made = place.kill(way, [&] {
            Broker own(place.scratch.broker());
            begin_here();
            own.create_topic("new", small());
        });
        CHECK(place.keep_and_judge() == "");
        if (place.broker.list_topics().size() == 2) {
            ++whole;
        } else {
            CHECK_FALSE(std::filesystem::exists(topics_path(place.scratch.broker()) / "new"));
            place.broker.create_topic("new", small());
        }
        CHECK(place.publishes("new"));
        return made;
    };
    const std::uint64_t kills = kill_at_points(kill);
    CHECK(whole > 0);
    CHECK(static_cast<std::uint64_t>(whole) < kills);
}

TEST_CASE("step_kill: a keeper killed anywhere while it takes up topics and sweeps leaves the rest to the next one") {
    if (const auto refused = stepping_refused()) SKIP(*refused);
    const auto kill = [](const Way& way) {
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
        Way made = place.kill(way, [&] {
            Keeper keeper{Broker(place.scratch.broker())};
            begin_here();
            (void)keeper.do_work(1s);
        });
        CHECK(place.keep_and_judge() == "");
        CHECK(place.publishes(kTopic));
        return made;
    };
    CHECK(kill_at_points(kill) > 0);
}
