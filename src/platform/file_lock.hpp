// Kernel-held locks on bytes of a file: the proof of life. The kernel lets go of them when the process ends, however it
// ends; no pid, no heartbeat and no time-out is involved.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "platform/access.hpp"
#include "platform/file_identity.hpp"

namespace ringmain::platform {

/// Open-file-description write locks on single bytes of one file; move-only. Closed in fork()ed children
/// (pthread_atfork), so that a child does not keep its parent alive: there nothing can be locked and everything counts
/// as held.
class FileLock {
public:
    FileLock() noexcept;
    /// Opens (never creates) the file. Read-only access suffices for held_by_other.
    /// Throws Error: not_found, permission_denied, io.
    explicit FileLock(const std::filesystem::path& path, Access access = Access::read_write);
    FileLock(FileLock&& other) noexcept;
    FileLock& operator=(FileLock&& other) noexcept;
    ~FileLock();

    /// Takes the lock on byte `at` unless somebody else holds it. Never waits. False also where the kernel refuses.
    [[nodiscard]] bool try_lock(std::uint64_t at) noexcept;
    void unlock(std::uint64_t at) noexcept;
    /// True if somebody holds byte `at` through ANOTHER open file description (another FileLock object).
    /// If the kernel cannot say, the answer is true: nobody is declared dead by mistake.
    [[nodiscard]] bool held_by_other(std::uint64_t at) const noexcept;
    /// Of the file that is open; nothing if the kernel does not tell.
    [[nodiscard]] FileIdentity identity() const noexcept;
    explicit operator bool() const noexcept { return file_ != nullptr; }

private:
    struct OpenFile;  // an entry of the list that the fork handler walks
    std::unique_ptr<OpenFile> file_;
};

}  // namespace ringmain::platform
