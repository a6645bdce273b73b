// Making a directory a broker, and checking that it is one.
#pragma once

#include <cstdint>
#include <filesystem>

#include "client_table/client_table.hpp"

namespace ringmain {

/// Makes the directory a broker if it is absent, empty or was left half made; does nothing to one that is a broker
/// already. Several processes may do so at once, and each may die anywhere: the next call completes it. True: this call
/// made it one. Throws Error: mismatch (it holds something else), not_found (no parent directory), no_space,
/// permission_denied, io.
bool make_broker_directory(const std::filesystem::path& directory);

/// Makes the keeper's lock file of a broker directory if it has none. Several processes may do so at once. Throws Error:
/// not_found (no directory), no_space, permission_denied, io.
void make_keeper_lock(const std::filesystem::path& directory);

/// Opens the client table, the file that makes a directory a broker; a user without the right to read it gets a table
/// that knows nothing, which suffices to read topics. Throws Error: not_found (no such directory, or it
/// is not a broker), mismatch (not a directory), version_mismatch, corrupt.
[[nodiscard]] client_table::ClientTable open_client_table(const std::filesystem::path& directory);

/// Removes files that killed makers left half made. Returns how many.
std::uint64_t sweep_half_made_files(const std::filesystem::path& directory);
/// How many there are. Looks only.
[[nodiscard]] std::uint64_t count_half_made_files(const std::filesystem::path& directory);

}  // namespace ringmain
