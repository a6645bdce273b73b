// Who holds the log start of a full topic, in words.
#include "holder_text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "group_report.hpp"
#include "ringmain/group_admin.hpp"
#include "ringmain/stats.hpp"
#include "stats_report.hpp"

namespace ringmain::cli {

namespace {

/// The member that owns the partition in the group.
std::optional<ClientDescription> owner_in(const Broker& broker, const std::string& topic, std::uint32_t partition,
                                          const std::string& group) {
    for (const LogHolder& holder : GroupAdmin(broker).who_blocks(topic)) {
        if (holder.group && holder.partition == partition && holder.name == group)
            return holder.client;
    }
    return std::nullopt;
}

/// "pid 4711, stopped".
std::string describe_client(const Broker& broker, const std::string& topic, const ClientDescription& client) {
    StatsOptions options;
    options.topics = {topic};
    options.lag.bytes_records_max = 0;
    options.bytes_records_max = 0;
    for (const ClientStats& one : StatsReader(broker).take(options).clients) {
        if (one.client.slot == client.slot && one.client.incarnation == client.incarnation)
            return fmt::format("{}, {}", name_of(one), state_of(one));
    }
    return to_string(client);
}

}  // namespace

std::string describe_gate(const Broker& broker, const std::string& topic, std::uint32_t partition,
                          const GateDescription& gate) {
    const std::string name = fmt::format("{} '{}'", gate.group ? "group" : "gate", printable(gate.name));
    try {
        if (!gate.group)
            return fmt::format("{} ({})", name, describe_client(broker, topic, gate.holder));
        const auto owner = owner_in(broker, topic, partition, gate.name);
        return owner ? fmt::format("{} ({})", name, describe_client(broker, topic, *owner))
                     : name + ", which has no member there,";
    } catch (const Error&) {
        return name;  // the topic is gone, or may not be read
    }
}

}  // namespace ringmain::cli
