// A file that cannot be used any more: what takes its place in this process, and how others are told.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>

#include "layout/readers.hpp"
#include "partition_log/doorbell.hpp"
#include "platform/memory.hpp"
#include "ringmain/error.hpp"

namespace ringmain {

// What the truncation guard puts in the place of a file (platform::Replacement): in all of them what is there is seen
// to be impossible by the checks that everybody makes anyway.

/// Of a partition: no offset is one. `object`: nothing, or the Doorbell of the handle that uses the mapping, which
/// finds its partition damaged from then on.
void replace_log(std::byte* memory, std::uint64_t bytes, void* object) noexcept;
/// Of `readers`: every partition is damaged.
void replace_readers(std::byte* memory, std::uint64_t bytes, void* object) noexcept;
/// Of `groups`: there are no groups, and no new one can be made.
void replace_groups(std::byte* memory, std::uint64_t bytes, void* object) noexcept;

/// Whether a file is why: what it says contradicts itself, or it is missing.
[[nodiscard]] inline bool is_damage(const Error& error) noexcept {
    return error.code() == ErrorCode::corrupt || error.code() == ErrorCode::version_mismatch;
}

/// For whoever found a mapping truncated. Names the file, its size now and the size needed.
[[nodiscard]] Error truncated_error(const std::filesystem::path& path, std::uint64_t bytes_needed);

/// Tells every handle that looks at the block that its partition cannot be used, and wakes those who sleep. Requires
/// the right to write it.
void tell_damage(layout::ReaderBlock<platform::HostMemory>& readers) noexcept;
/// The partition can be used again. True: it was said to be damaged.
bool take_back_damage(layout::ReaderBlock<platform::HostMemory>& readers) noexcept;

}  // namespace ringmain
