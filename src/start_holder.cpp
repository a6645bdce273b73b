// What holds a log start back, in words.
#include "start_holder.hpp"

#include "gate_table/gate_table.hpp"
#include "group_table/listing.hpp"
#include "layout/clients.hpp"

namespace ringmain {

using platform::HostMemory;

std::string holder_to_text(const partition_log::LogMemory<HostMemory>& log, const partition_log::StartMoved& moved,
                           const client_table::ClientTable& clients) {
    if (moved.group) return "group '" + group_table::name_of(log.groups.groups(), *moved.group) + "'";
    if (!moved.gate) return {};
    const gate_table::GateTable<HostMemory> gates(log.readers);
    const layout::ClientId holder = layout::ClientId::from_word(layout::client_of(gates.owner(*moved.gate)));
    return "gate '" + gates.name(*moved.gate) + "' of " + to_string(clients.describe(holder));
}

}  // namespace ringmain
