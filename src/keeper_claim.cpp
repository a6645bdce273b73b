// Whether a keeper may keep: it holds the lock that others look for, and knows the clients that others ask for.
#include "keeper_claim.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "broker_directory.hpp"
#include "error_about.hpp"
#include "keeper_lock.hpp"
#include "keeper_step.hpp"
#include "layout/clients.hpp"
#include "platform/files.hpp"
#include "platform/process.hpp"
#include "topic_paths.hpp"

namespace ringmain {

namespace {

constexpr std::int64_t kLookNs = 400'000'000;  // what happens to the files is noticed within a second

std::string held_by_another(const std::filesystem::path& file) {
    const std::uint32_t pid = pid_in_keeper_lock(file);
    return "is held: another keeper runs for this directory, " + (pid != 0 ? "pid " + std::to_string(pid) : "an unknown pid");
}

}  // namespace

KeeperClaim::KeeperClaim(const std::filesystem::path& directory, platform::FileIdentity clients)
    : directory_(directory),
      lock_file_{keeper_lock_path(directory), {}, {}},
      clients_file_{clients_path(directory), clients, clients} {
    if (!take_lock()) throw error_about(ErrorCode::busy, lock_file_.path.string(), held_by_another(lock_file_.path));
}

/// False: another keeper holds it. Throws Error otherwise.
bool KeeperClaim::take_lock() {
    make_keeper_lock(directory_);
    platform::FileLock lock(lock_file_.path);
    if (!lock.try_lock(kKeeperLockAt)) return false;
    lock_ = std::move(lock);  // an earlier file's lock goes
    lock_file_.opened = lock_.identity();
    lock_file_.seen = lock_file_.opened;
    platform::replace_text(lock_file_.path, std::to_string(platform::this_process().pid) + "\n");
    return true;
}

bool KeeperClaim::still_there(OpenFile& file, const KeeperEvents& events) {
    if (file.opened == platform::FileIdentity{}) return true;
    const auto now = platform::identity_of(file.path);
    if (now != std::exchange(file.seen, now) && now != file.opened) {
        const auto kind = now ? KeeperEventKind::file_replaced : KeeperEventKind::file_missing;
        events.tell([&] { return KeeperEvent{kind, {}, {}, file.path.string()}; });
    }
    return now == file.opened;
}

/// Its size and the one needed, if somebody truncated it.
std::string KeeperClaim::too_short(const OpenFile& clients) {
    if (clients.opened == platform::FileIdentity{}) return {};
    const auto now = platform::shape_of(clients.path);
    if (!now || now->bytes >= layout::kClientsFileBytes) return {};
    return "'" + clients.path.string() + "' was truncated: it has " + std::to_string(now->bytes) + " bytes, " +
           std::to_string(layout::kClientsFileBytes) + " are needed";
}

KeeperClaim::Obstacle KeeperClaim::find_obstacle(const KeeperEvents& events, std::string& why) try {
    if (!still_there(clients_file_, events)) {
        why = "'" + clients_file_.path.string() + "' is not the client table that is open: nobody can be proven dead";
        return Obstacle::no_clients;
    }
    if (const std::string size = too_short(clients_file_); !size.empty()) {
        why = size + ": nobody can be proven dead";
        return Obstacle::no_clients;
    }
    if (still_there(lock_file_, events) || take_lock()) return Obstacle::none;
    why = "'" + lock_file_.path.string() + "' " + held_by_another(lock_file_.path);
    return Obstacle::another_keeper;
} catch (const Error& error) {
    why = error.what();
    return Obstacle::no_lock_file;
}

bool KeeperClaim::look(std::int64_t now_ns, bool changed, const KeeperEvents& events) {
    if (is_recent(looked_ns_, now_ns, kLookNs) && !changed) return keeping();
    looked_ns_ = now_ns;
    std::string why;
    const Obstacle obstacle = find_obstacle(events, why);
    if (obstacle == std::exchange(obstacle_, obstacle)) return keeping();
    const auto kind = keeping() ? KeeperEventKind::keeping_resumed : KeeperEventKind::keeping_stopped;
    events.tell([&] { return KeeperEvent{kind, {}, {}, why}; });
    return keeping();
}

}  // namespace ringmain
