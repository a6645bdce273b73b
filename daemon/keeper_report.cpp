// What /v1/keeper tells.
#include "keeper_report.hpp"

#include <unistd.h>

#include <nlohmann/json.hpp>

namespace ringmain::daemon {

std::string keeper_to_json(const KeeperThread& keeper) {
    using Json = nlohmann::ordered_json;
    const KeeperStatistics statistics = keeper.keeper().statistics();
    Json events = Json::object();
    KeeperEventCounts::for_each_kind(
        [&](KeeperEventKind kind) { events[std::string(to_string(kind))] = keeper.events().of(kind); });
    const Json json = {{"pid", ::getpid()},
                       {"keeping", statistics.keeping},
                       {"steps", statistics.steps},
                       {"idle_steps", statistics.idle_steps},
                       {"last_step_ns", statistics.last_step.count()},
                       {"longest_step_ns", statistics.longest_step.count()},
                       {"longest_step_of_minute_ns", statistics.longest_step_of_minute.count()},
                       {"topics", statistics.topics},
                       {"partitions", statistics.partitions},
                       {"unreadable_topics", statistics.unreadable_topics},
                       {"unreadable_partitions", statistics.unreadable_partitions},
                       {"clients", statistics.clients},
                       {"watched_clients", statistics.watched_clients},
                       {"events", events}};
    return json.dump();
}

}  // namespace ringmain::daemon
