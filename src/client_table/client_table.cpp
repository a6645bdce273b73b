// Who is attached to a broker directory, and who of them is alive.
#include "client_table/client_table.hpp"

#include <string>
#include <utility>

#include "platform/clock.hpp"
#include "ringmain/error.hpp"

namespace ringmain::client_table {

using layout::ClientEntry;
using layout::ClientId;
using platform::Access;
using platform::FileLock;

namespace {

// How many lives of the slot lie between; negative if `id` has not been given out yet.
std::int32_t lives_since(ClientId id, std::uint32_t current) noexcept {
    return static_cast<std::int32_t>(current - id.incarnation);
}

}  // namespace

ClientTable::ClientTable(platform::Mapping file, std::filesystem::path path, Access access)
    : path_(std::move(path)), mapping_(std::move(file)), access_(access), probe_(path_, Access::read_only) {}

ClientTable::ClientTable(std::filesystem::path path) : path_(std::move(path)), access_(Access::read_only) {}

ClientEntry& ClientTable::entry(std::uint32_t slot) const noexcept {
    return reinterpret_cast<ClientEntry*>(mapping_.data() + layout::kClientsAt)[slot];
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
        id_ = take(slot);
        attached_ = true;
        return id_;
    }
    throw Error(
        ErrorCode::limit, path_.string(),
        "the client table '" + path_.string() + "' is full: " + std::to_string(layout::kClientsMax) + " live clients");
}

// Requires the slot's lock.
ClientId ClientTable::take(std::uint32_t slot) noexcept {
    const platform::ProcessIdentity me = platform::this_process();
    ClientEntry& mine = entry(slot);
    // relaxed: for show; whoever reads them compares the incarnation
    mine.pid.store(me.pid, std::memory_order_relaxed);
    mine.pid_namespace.store(me.pid_namespace, std::memory_order_relaxed);
    mine.start_ticks.store(me.start_ticks, std::memory_order_relaxed);
    mine.since_ns.store(static_cast<std::uint64_t>(platform::realtime_ns()), std::memory_order_relaxed);

    // relaxed load: only holders of the lock write it, and the kernel orders them
    std::uint64_t incarnation = mine.incarnation.load(std::memory_order_relaxed) + 1;
    if (static_cast<std::uint32_t>(incarnation) == 0)
        ++incarnation;  // 0 is nobody
    // release CLIENT: before any other file names the new client
    mine.incarnation.store(incarnation, std::memory_order_release);
    return {slot, static_cast<std::uint32_t>(incarnation)};
}

bool ClientTable::proven_dead(ClientId id) const noexcept {
    if (!mapping_ || mapping_.truncated() || id.slot >= layout::kClientsMax || id.incarnation == 0)
        return false;
    // acquire CLIENT: at least as new as the word that named the client
    const auto current = static_cast<std::uint32_t>(entry(id.slot).incarnation.load(std::memory_order_acquire));
    const std::int32_t lives = lives_since(id, current);
    if (lives != 0)
        return lives > 0;
    // The holder took the lock before it raised the incarnation and keeps it while it lives: if the lock is free, it
    // ended.
    return !probe_.held_by_other(layout::kClientLockAt + id.slot);
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
    const ClientEntry& seen = entry(id.slot);
    const auto pid = static_cast<std::int32_t>(seen.pid.load(std::memory_order_relaxed));  // relaxed: for show
    // acquire CLIENT: read last; the pid is that of the client only if nobody has taken the slot over
    if (static_cast<std::uint32_t>(seen.incarnation.load(std::memory_order_acquire)) != id.incarnation)
        return client;
    client.pid = pid;
    if (client.state == ClientState::unknown)
        client.state = ClientState::alive;
    return client;
}

std::optional<ClientId> ClientTable::last_of(std::uint32_t slot) const noexcept {
    if (!mapping_ || slot >= layout::kClientsMax)
        return std::nullopt;
    const auto incarnation = static_cast<std::uint32_t>(entry(slot).incarnation.load(std::memory_order_acquire));  // acquire CLIENT
    if (incarnation == 0)
        return std::nullopt;
    return ClientId{slot, incarnation};
}

std::optional<ClientTable::Details> ClientTable::details(ClientId id) const noexcept {
    if (!mapping_ || id.slot >= layout::kClientsMax)
        return std::nullopt;
    const ClientEntry& seen = entry(id.slot);
    // relaxed: for show
    const Details details{{static_cast<std::uint32_t>(seen.pid.load(std::memory_order_relaxed)),
                           seen.pid_namespace.load(std::memory_order_relaxed),
                           seen.start_ticks.load(std::memory_order_relaxed)},
                          seen.since_ns.load(std::memory_order_relaxed)};
    // read last, as in describe: the slot is still this client's
    return last_of(id.slot) == id ? std::optional(details) : std::nullopt;
}

}  // namespace ringmain::client_table
