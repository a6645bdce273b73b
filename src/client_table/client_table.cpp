// Who is attached to a broker directory, and who of them is alive.
#include "client_table/client_table.hpp"

#include <string>
#include <utility>

#include "platform/clock.hpp"
#include "ringmain/error.hpp"

namespace ringmain::client_table {

using layout::ClientId;
using platform::Access;
using platform::FileLock;

ClientTable::ClientTable(platform::Mapping file, std::filesystem::path path, Access access)
    : path_(std::move(path)), mapping_(std::move(file)), access_(access), probe_(path_, Access::read_only) {}

ClientTable::ClientTable(std::filesystem::path path) : path_(std::move(path)), access_(Access::read_only) {}

ClientTable::Entry& ClientTable::entry(std::uint32_t slot) const noexcept {
    return reinterpret_cast<Entry*>(mapping_.data() + layout::kClientsAt)[slot];
}

ClientId ClientTable::attach() {
    if (attached_)
        return id_;
    FileLock lock(path_);  // throws permission_denied, unless the rights came after the table was opened
    if (access_ != Access::read_write) {
        throw Error(ErrorCode::permission_denied, path_.string(),
                    "'" + path_.string() + "' could not be written when the broker was opened; open it again");
    }
    for (std::uint32_t slot = 0; slot < layout::kClientsMax; ++slot) {
        if (!lock.try_lock(layout::kClientLockAt + slot))
            continue;
        own_lock_ = std::move(lock);
        id_ = slot_at(slot).take(platform::this_process(), static_cast<std::uint64_t>(platform::realtime_ns()));
        attached_ = true;
        return id_;
    }
    throw Error(
        ErrorCode::limit, path_.string(),
        "the client table '" + path_.string() + "' is full: " + std::to_string(layout::kClientsMax) + " live clients");
}

bool ClientTable::proven_dead(ClientId id) const noexcept {
    if (!mapping_ || mapping_.truncated() || id.slot >= layout::kClientsMax || id.incarnation == 0)
        return false;
    return slot_at(id.slot).proven_dead(id.incarnation,
                                        [&] { return probe_.held_by_other(layout::kClientLockAt + id.slot); });
}

bool ClientTable::proven_dead_word(std::uint64_t word) const noexcept {
    return (word & 0xffffffffU) != 0 && proven_dead(ClientId::from_word(word));
}

ClientDescription ClientTable::describe(ClientId id) const noexcept {
    ClientDescription client{id.slot, id.incarnation, 0, ClientState::unknown};
    if (!mapping_ || id.slot >= layout::kClientsMax || id.incarnation == 0)
        return client;
    if (proven_dead(id))
        client.state = ClientState::dead;
    const Entry& seen = entry(id.slot);
    const auto pid = static_cast<std::int32_t>(seen.pid.load(std::memory_order_relaxed));  // relaxed: for show
    // read last: the pid is that of the client only if nobody has taken the slot over
    if (slot_at(id.slot).incarnation() != id.incarnation)
        return client;
    client.pid = pid;
    if (client.state == ClientState::unknown)
        client.state = ClientState::alive;
    return client;
}

std::optional<ClientId> ClientTable::last_of(std::uint32_t slot) const noexcept {
    if (!mapping_ || slot >= layout::kClientsMax)
        return std::nullopt;
    const std::uint32_t incarnation = slot_at(slot).incarnation();
    if (incarnation == 0)
        return std::nullopt;
    return ClientId{slot, incarnation};
}

std::optional<ClientTable::Details> ClientTable::details(ClientId id) const noexcept {
    if (!mapping_ || id.slot >= layout::kClientsMax)
        return std::nullopt;
    const Entry& seen = entry(id.slot);
    // relaxed: for show
    const Details details{
        {static_cast<std::uint32_t>(seen.pid.load(std::memory_order_relaxed)),
         seen.pid_namespace.load(std::memory_order_relaxed), seen.start_ticks.load(std::memory_order_relaxed)},
        seen.since_ns.load(std::memory_order_relaxed)};
    // read last, as in describe: the slot is still this client's
    return last_of(id.slot) == id ? std::optional(details) : std::nullopt;
}

}  // namespace ringmain::client_table
