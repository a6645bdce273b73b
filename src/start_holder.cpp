// What holds a log start back, in words.
#include "start_holder.hpp"

#include "gate_table/gate_table.hpp"
#include "group_table/shared_text.hpp"
#include "layout/clients.hpp"

namespace ringmain {

namespace {

using platform::HostMemory;

std::string group_name(const group_table::GroupsMemory<HostMemory>& groups, std::uint32_t slot) {
    const auto& group = groups.group(slot);
    return group_table::read_text(group.name, group.name_length.load(std::memory_order_acquire));  // acquire GROUP_FIELD
}

}  // namespace

std::string holder_to_text(const partition_log::LogMemory<HostMemory>& log, const partition_log::StartMoved& moved,
                           const client_table::ClientTable& clients) {
    if (moved.group) return "group '" + group_name(log.groups.groups(), *moved.group) + "'";
    if (!moved.gate) return {};
    const gate_table::GateTable<HostMemory> gates(log.readers);
    const layout::ClientId holder = layout::ClientId::from_word(layout::client_of(gates.owner(*moved.gate)));
    return "gate '" + gates.name(*moved.gate) + "' of " + to_string(clients.describe(holder));
}

}  // namespace ringmain
