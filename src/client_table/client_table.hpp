// Who is attached to a broker directory, and who of them is alive.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "client_table/client_slot.hpp"
#include "layout/clients.hpp"
#include "platform/file_lock.hpp"
#include "platform/mapping.hpp"
#include "platform/process.hpp"
#include "ringmain/topic_options.hpp"

namespace ringmain::client_table {

/// The `clients` file of a broker directory. Thread-safe for all but attach.
class ClientTable {
public:
    /// `file`: the table, mapped whole and with its header checked; read-only suffices for all but attach.
    /// `path`: the same file, for the locks. Throws Error as FileLock.
    ClientTable(platform::Mapping file, std::filesystem::path path, platform::Access access);
    /// The table of a user who may not read it: attach is refused, nobody is proven dead.
    explicit ClientTable(std::filesystem::path path);

    /// Registers this process: takes the lock of a free slot. Idempotent. Throws Error: limit, permission_denied.
    /// If the process dies in here, the slot is free again at once.
    layout::ClientId attach();
    [[nodiscard]] bool attached() const noexcept { return attached_; }
    [[nodiscard]] layout::ClientId id() const noexcept { return id_; }

    /// True only if the kernel proves that this client is gone. Never by time, never by pid.
    [[nodiscard]] bool proven_dead(layout::ClientId id) const noexcept;
    /// The same for the word by which other files name a client; a word that names no possible client is not proven
    /// dead.
    [[nodiscard]] bool proven_dead_word(std::uint64_t word) const noexcept;

    [[nodiscard]] ClientDescription describe(layout::ClientId id) const noexcept;

    /// False: this user may not look, and nothing is known of anybody.
    [[nodiscard]] bool readable() const noexcept { return static_cast<bool>(mapping_); }
    /// The last client that had the slot, dead or alive; nothing if none ever had, or the table may not be read.
    [[nodiscard]] std::optional<layout::ClientId> last_of(std::uint32_t slot) const noexcept;
    /// What a client wrote of itself. Whoever acts by it compares it with the kernel's own answers.
    struct Details {
        platform::ProcessIdentity process;
        std::uint64_t since_ns = 0;
    };
    /// Nothing if the slot is another one's by now.
    [[nodiscard]] std::optional<Details> details(layout::ClientId id) const noexcept;

    /// Of the file that is mapped; nothing if it may not be read.
    [[nodiscard]] platform::FileIdentity identity() const noexcept { return mapping_.identity(); }
    [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

private:
    using Entry = layout::ClientEntry<platform::HostMemory>;
    using Slot = ClientSlot<platform::HostMemory>;
    [[nodiscard]] Entry& entry(std::uint32_t slot) const noexcept;
    [[nodiscard]] Slot slot_at(std::uint32_t slot) const noexcept { return {entry(slot), slot}; }

    std::filesystem::path path_;
    platform::Mapping mapping_;
    platform::Access access_;
    platform::FileLock own_lock_;  // holds this client's byte
    platform::FileLock probe_;     // asks about others: a lock never conflicts with its own description
    layout::ClientId id_;
    bool attached_ = false;
};

}  // namespace ringmain::client_table
