// Whether a keeper may keep: it holds the lock that others look for, and knows the clients that others ask for.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "keeper_events.hpp"
#include "platform/file_identity.hpp"
#include "platform/file_lock.hpp"

namespace ringmain {

/// The lock on `keeper.lock`, and a look at whether the paths of that file and of `clients` still name the files that are open.
///
/// A lock file that went away or was replaced is taken again at its path, made anew if there is none: otherwise another
/// keeper could start beside this one, or none ever again. If another keeper was faster, this one stands by until that one is
/// gone. Without the `clients` file that was opened, nobody can be proven dead: the one at the path now says nothing about those
/// who hold something. Then nothing is kept until the file is back or the directory is opened anew. docs/recovery.md, K rows.
class KeeperClaim {
public:
    /// `clients`: of the client table that is open; nothing of it is looked at if it is {}. Throws Error: busy (names the pid
    /// of the other keeper), permission_denied, no_space, io.
    KeeperClaim(const std::filesystem::path& directory, platform::FileIdentity clients);

    /// Looks, every now and then or if `changed`, and tells what it finds. True: the caller may keep.
    bool look(std::int64_t now_ns, bool changed, const KeeperEvents& events);
    [[nodiscard]] bool keeping() const noexcept { return obstacle_ == Obstacle::none; }

private:
    /// A file that is open, and what its path named at the last look.
    struct OpenFile {
        std::filesystem::path path;
        platform::FileIdentity opened;
        std::optional<platform::FileIdentity> seen;
    };
    static bool still_there(OpenFile& file, const KeeperEvents& events);
    [[nodiscard]] static std::string too_short(const OpenFile& clients);
    enum class Obstacle : std::uint8_t { none, no_clients, another_keeper, no_lock_file };
    [[nodiscard]] bool take_lock();
    /// What keeps this keeper from keeping, and in `why` the words for it.
    [[nodiscard]] Obstacle find_obstacle(const KeeperEvents& events, std::string& why);

    std::filesystem::path directory_;
    OpenFile lock_file_;
    OpenFile clients_file_;
    platform::FileLock lock_;
    Obstacle obstacle_ = Obstacle::none;
    std::optional<std::int64_t> looked_ns_;
};

}  // namespace ringmain
