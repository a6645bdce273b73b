// A broker with a topic, a process that is killed somewhere in what it does to them, and a second keeper that goes on.
#include "crash/keeper_stage.hpp"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <iostream>

#include "platform/files.hpp"
#include "support/catch.hpp"
#include "support/told.hpp"
#include "topic_paths.hpp"

namespace ringmain::crash {

using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t kInstructionsMax = 20'000'000;
constexpr std::uint64_t kEffectsMax = 100'000;
constexpr std::uint64_t kSampleMax = 2'000;

/// At places that are evenly spread, or at all.
std::uint64_t kill_along(const std::function<Way(const Way&)>& kill, const Way& longest, std::uint64_t stops_max) {
    (void)kill({longest.unit, 0, {}});  // what a process does once in its life, this one has done behind it, and no victim does it
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
    std::cout << "killed at " << stops + 1 << " of " << whole.points + 1
              << (whole.unit == StrideUnit::effect ? " effects\n" : " instructions\n");
    return stops + 1;
}

std::string judge_partition(const PartitionDescription& partition) {
    std::string wrong;
    if (!partition.producers.empty())
        wrong += "a producer; ";
    if (partition.extents_owned != 0)
        wrong += "an extent; ";
    if (partition.quarantined_cells != 0)
        wrong += "a cell; ";
    for (const GateDescription& gate : partition.gates)
        wrong += gate.group ? "" : "a gate; ";
    return wrong;
}

std::string judge_topic(const Broker& broker, const std::string& name) {
    std::string wrong;
    for (const PartitionDescription& partition : broker.describe_topic(name).partitions)
        wrong += judge_partition(partition);
    for (const GroupSummary& group : GroupAdmin(broker).list(name))
        wrong += group.members == 0 ? "" : "a member; ";
    const VerifyReport report = broker.verify(name);
    if (!report.damage.empty() || report.open != 0)
        wrong += "damage or an open ticket; ";
    return wrong;
}

}  // namespace

TopicOptions small() {
    TopicOptions options;
    options.records = 64;
    options.producer_slots = 2;
    options.cell_bytes = 64;
    options.payload_bytes = 1 << 16;
    options.when_full = WhenFull::block;
    return options;
}

void begin_here() { ::raise(SIGTRAP); }

Way kill_on_way(const Way& way, const std::function<void()>& operation, const std::function<void()>& beside) {
    const SharedBytes shared(4096);
    auto& done = *new (shared.data()) std::atomic<std::uint32_t>(0);
    Victim victim(operation, done);
    Stride stride(victim, way.unit);
    REQUIRE(stride.go_to_mark());
    if (beside)
        beside();
    const std::uint64_t made = stride.advance(way.points);
    if (made < way.points)
        CHECK(victim.done());
    victim.kill();
    return {way.unit, made, stride.trace()};
}

std::uint64_t kill_everywhere(const std::function<Way(const Way&)>& kill) {
    stay_on_one_core();
    std::uint64_t kills = 0;
    if (!effects_refused())
        kills += kill_along(kill, {StrideUnit::effect, kEffectsMax, {}}, kEffectsMax);
    if (std::getenv("RINGMAIN_LONG") != nullptr)
        kills += kill_along(kill, {StrideUnit::instruction, kInstructionsMax, {}}, kSampleMax);
    return kills;
}

std::string KeeperStage::keep_and_judge() {
    test::Told told;
    Keeper keeper(broker, told.listener());
    for (int i = 1; i <= 40; ++i)
        (void)keeper.do_work(i * 1s);
    std::string wrong;
    if (told.count(KeeperEventKind::topic_unreadable) != 0)
        wrong += "unreadable; ";
    if (!platform::names_in(staging_path(scratch.broker())).empty())
        wrong += "something is left in staging; ";
    if (!platform::names_in(trash_path(scratch.broker())).empty())
        wrong += "something is left in trash; ";
    for (const std::string& name : broker.list_topics())
        wrong += judge_topic(broker, name);
    return wrong;
}

bool KeeperStage::publishes(std::string_view topic) {
    Producer producer(broker, topic);
    ProducerRecord record;
    record.value = as_bytes("afterwards");
    return producer.try_publish(record).status == Status::ok;
}

}  // namespace ringmain::crash
