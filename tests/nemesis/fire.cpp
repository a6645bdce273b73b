// A round of the nemesis.
#include "fire.hpp"

#include <unistd.h>

#include <filesystem>
#include <sstream>

#include "check.hpp"
#include "concurrency/seed.hpp"
#include "ringmain/keeper.hpp"
#include "ringmain/stats.hpp"

namespace ringmain::nemesis {

namespace {

namespace fs = std::filesystem;

// By a schedule of its own: what was late is made up for.
void strike_for(Crew& crew, std::uint64_t seed, std::chrono::milliseconds duration, std::uint32_t hertz) {
    std::mt19937_64 random(seed);
    const auto tick = hertz == 0 ? std::chrono::nanoseconds(std::chrono::milliseconds(10))
                                 : std::chrono::nanoseconds(1'000'000'000 / hertz);
    const auto begin = std::chrono::steady_clock::now();
    for (auto next = begin; next < begin + duration; next += tick) {
        std::this_thread::sleep_until(next);
        crew.upkeep();
        if (hertz != 0)
            crew.strike(random);
    }
}

std::string told(const Arena& arena, const Run& run, const Verdict& verdict, std::uint64_t seed) {
    const fs::path kept =
        fs::temp_directory_path() / ("ringmain-nemesis-" + std::to_string(seed) + "-" + std::to_string(::getpid()));
    keep_histories(run.histories, kept);
    std::error_code none;
    fs::copy_file(arena.output(), kept / "daemon.log", none);
    std::ostringstream out;
    out << "histories: " << kept.string() << ", RINGMAIN_SEED=" << seed << '\n' << report(verdict, run.histories);
    return out.str();
}

// What processes hold that are gone, in words.
std::string held_by_the_dead(StatsReader& reader) {
    StatsOptions options;
    options.lag = {false, 0};
    options.bytes_records_max = 0;
    const BrokerStats stats = reader.take(options);
    std::string held;
    for (const ClientStats& one : stats.clients) {
        if (one.client.state != ClientState::alive && one.held() > 0)
            held += to_string(one.client) + " still holds " + std::to_string(one.held()) + " places; ";
    }
    for (const TopicStats& topic : stats.topics) {
        for (const PartitionStats& one : topic.partitions) {
            const std::string where = topic.name + "/" + std::to_string(one.partition);
            if (one.quarantined_cells + one.open_tickets + one.extents_owned > 0)
                held += where + ": " + std::to_string(one.quarantined_cells) + " quarantined cells, " +
                        std::to_string(one.open_tickets) + " open tickets, " + std::to_string(one.extents_owned) +
                        " owned extents; ";
        }
    }
    return held;
}

// A keeper brings back what the dead held, and no byte contradicts another one.
void check_what_is_left(const Arena& arena, Verdict& verdict) {
    const VerifyReport files = arena.broker().verify();
    for (const Damage& damage : files.damage)
        verdict.say(Fault::failed, "verify: " + damage.file + ": " + damage.what);
    Keeper keeper(arena.broker());
    StatsReader reader(arena.broker());
    std::string held = held_by_the_dead(reader);
    for (int tries = 0; !held.empty() && tries < 500; ++tries) {
        (void)keeper.do_work(std::chrono::steady_clock::now().time_since_epoch());
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        held = held_by_the_dead(reader);
    }
    if (!held.empty())
        verdict.say(Fault::failed, "when all are gone: " + held);
}

}  // namespace

Round fire(std::uint64_t seed, std::chrono::milliseconds duration, std::uint32_t hertz, const Roster& roster,
           Figures* figures) {
    Arena arena;
    Round round;
    Crew crew(arena, test::derive_seed(seed, 1), roster);
    strike_for(crew, test::derive_seed(seed, 2), duration, hertz);
    const bool finished = crew.finish();
    const Histories histories(arena.histories());
    const Run run{histories.all(), Arena::rules(), arena.ends(),
                  static_cast<std::uint64_t>(std::chrono::nanoseconds(kLockTime).count())};
    round.verdict = check(run);
    if (!finished)
        round.verdict.say(Fault::failed, "a process did not come to its end");
    check_what_is_left(arena, round.verdict);
    if (figures != nullptr)
        figures->add(crew, run, round.verdict);
    if (!round.verdict.good() && roster.canary == Canary::none)
        round.report = told(arena, run, round.verdict, seed);
    return round;
}

}  // namespace ringmain::nemesis
