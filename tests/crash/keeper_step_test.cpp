// A keeper, a creator and a deleter in processes of their own, killed after each effect, which is as good as at each instruction
// (effects.hpp says why); a second keeper goes on from there.
//
// RINGMAIN_LONG=1 kills at many instructions as well, effect or not (each point steps through all before it).
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <string>

#include "broker_impl.hpp"
#include "cases/open_ticket.hpp"
#include "crash/keeper_stage.hpp"
#include "ringmain/ringmain.hpp"
#include "support/catch.hpp"
#include "support/child.hpp"
#include "topic_paths.hpp"

using namespace ringmain;
using namespace ringmain::crash;
using namespace std::chrono_literals;

namespace {

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

}  // namespace

TEST_CASE("step_kill: a keeper killed anywhere while it reaps leaves the rest to the next one") {
    if (const auto refused = stepping_refused()) SKIP(*refused);
    const auto kill = [](const Way& way) {
        KeeperStage place;
        test::Child holder([&] { return hold_and_stop(place.scratch.broker()); });
        REQUIRE(test::wait_for_end(test::MappedLog(place.scratch.broker(), kTopic), 2));
        const auto reap = [&] {
            Keeper keeper{Broker(place.scratch.broker())};
            for (int i = 1; i <= 5; ++i) (void)keeper.do_work(i * 1s);
            begin_here();
            for (int i = 6; i <= 7; ++i) (void)keeper.do_work(i * 1s);
        };
        Way made = kill_on_way(way, reap, [&] { holder.kill(); });
        CHECK(place.keep_and_judge() == "");
        CHECK(place.publishes(kTopic));
        return made;
    };
    CHECK(kill_everywhere(kill) > 0);
}

TEST_CASE("step_kill: a deleter killed anywhere leaves a topic or none, and what is left is swept") {
    if (const auto refused = stepping_refused()) SKIP(*refused);
    int gone = 0;
    const auto kill = [&](const Way& way) {
        KeeperStage place;
        Way made = kill_on_way(way, [&] {
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
    const std::uint64_t kills = kill_everywhere(kill);
    CHECK(gone > 0);
    CHECK(static_cast<std::uint64_t>(gone) < kills);
}

TEST_CASE("step_kill: a creator killed anywhere leaves a topic or none, and what is left is swept") {
    if (const auto refused = stepping_refused()) SKIP(*refused);
    int whole = 0;
    const auto kill = [&](const Way& way) {
        KeeperStage place;
        Way made = kill_on_way(way, [&] {
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
    const std::uint64_t kills = kill_everywhere(kill);
    CHECK(whole > 0);
    CHECK(static_cast<std::uint64_t>(whole) < kills);
}

TEST_CASE("step_kill: a keeper killed anywhere while it takes up topics and sweeps leaves the rest to the next one") {
    if (const auto refused = stepping_refused()) SKIP(*refused);
    const auto kill = [](const Way& way) {
        KeeperStage place;
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
        Way made = kill_on_way(way, [&] {
            Keeper keeper{Broker(place.scratch.broker())};
            begin_here();
            (void)keeper.do_work(1s);
        });
        CHECK(place.keep_and_judge() == "");
        CHECK(place.publishes(kTopic));
        return made;
    };
    CHECK(kill_everywhere(kill) > 0);
}
