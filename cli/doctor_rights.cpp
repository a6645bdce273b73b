// Whose files they are: what a keeper may not write, what consumers may not read, and what was removed from under
// somebody.
#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "doctor_examination.hpp"

namespace ringmain::cli {

namespace {

namespace fs = std::filesystem;

/// A user with the groups he is in.
struct User {
    uid_t uid = 0;
    std::vector<gid_t> groups;

    [[nodiscard]] bool is_in(gid_t group) const {
        return std::find(groups.begin(), groups.end(), group) != groups.end();
    }
    [[nodiscard]] bool may_write(const struct stat& file) const {
        if (uid == 0)
            return true;
        if (uid == file.st_uid)
            return (file.st_mode & S_IWUSR) != 0;
        return (file.st_mode & (is_in(file.st_gid) ? S_IWGRP : S_IWOTH)) != 0;
    }
};

/// The user of a process, by /proc/PID/status: "Uid: real effective ...", "Gid: ...", "Groups: ...".
std::optional<User> user_of(std::int32_t pid) {
    std::ifstream status(fmt::format("/proc/{}/status", pid));
    User user;
    bool found = false;
    for (std::string line; std::getline(status, line);) {
        std::istringstream words(line);
        std::string name;
        words >> name;
        std::uint32_t real = 0;
        std::uint32_t effective = 0;
        if (name == "Uid:" && words >> real >> effective) {
            user.uid = effective;
            found = true;
        } else if (name == "Gid:" && words >> real >> effective) {
            user.groups.push_back(effective);
        } else if (name == "Groups:") {
            for (std::uint32_t group = 0; words >> group;)
                user.groups.push_back(group);
        }
    }
    return found ? std::optional(user) : std::nullopt;
}

/// The keeper that runs, or else the one that whoever made the directory would start.
std::optional<User> keeper_user(const BrokerStats& stats) {
    if (stats.keeper.running.value_or(false) && stats.keeper.pid != 0) {
        if (const auto user = user_of(stats.keeper.pid))
            return user;
    }
    struct stat lock {};
    if (::stat((stats.directory + "/keeper.lock").c_str(), &lock) != 0)
        return std::nullopt;
    return User{lock.st_uid, {lock.st_gid}};
}

std::string describe(const fs::path& path, const struct stat& file) {
    return fmt::format("'{}' (owner uid {}, gid {}, mode {:04o})", path.string(), file.st_uid, file.st_gid,
                       file.st_mode & 07777U);
}

bool is_log(const fs::path& path) {
    return path.extension() == ".log" || path.filename() == "readers" || path.filename() == "groups";
}

/// Calls `look(path, stat)` for the directory of the topic and all that is in it.
template <class Look>
void for_each_file(const BrokerStats& stats, const std::string& topic, const Look& look) {
    const fs::path directory = fs::path(stats.directory) / "topics" / topic;
    std::error_code error;
    std::vector<fs::path> paths{directory};
    for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error))
        paths.push_back(at->path());
    std::sort(paths.begin(), paths.end());
    for (const fs::path& path : paths) {
        struct stat file {};
        if (::stat(path.c_str(), &file) == 0)
            look(path, file);
    }
}

void note_file(Surroundings::TopicRights& rights, const fs::path& path, const struct stat& file) {
    if (rights.files++ == 0)
        rights.first = describe(path, file);
}

/// A directory that is setgid is meant to be shared with its group.
std::optional<gid_t> sharing_group(const BrokerStats& stats) {
    struct stat directory {};
    if (::stat(stats.directory.c_str(), &directory) != 0 || (directory.st_mode & S_ISGID) == 0 ||
        (directory.st_mode & S_IXGRP) == 0)
        return std::nullopt;
    return directory.st_gid;
}

bool group_may_read(gid_t group, const struct stat& file) {
    const mode_t needed = S_ISDIR(file.st_mode) ? S_IRGRP | S_IXGRP : S_IRGRP;
    const mode_t needed_of_others = S_ISDIR(file.st_mode) ? S_IROTH | S_IXOTH : S_IROTH;
    return file.st_gid == group ? (file.st_mode & needed) == needed
                                : (file.st_mode & needed_of_others) == needed_of_others;
}

}  // namespace

void look_at_rights(const BrokerStats& stats, Surroundings& surroundings) {
    const auto keeper = keeper_user(stats);
    const auto group = sharing_group(stats);
    if (keeper) {
        surroundings.keeper_user = fmt::format("uid {}", keeper->uid);
        surroundings.keeper_uid = keeper->uid;
    }
    surroundings.shared_gid = group.value_or(0);
    for (const TopicStats& topic : stats.topics) {
        Surroundings::TopicRights unwritable{topic.name, 0, {}};
        Surroundings::TopicRights unreadable{topic.name, 0, {}};
        bool shared = true;  // else somebody narrowed the rights of the whole topic, and meant to
        for_each_file(stats, topic.name, [&](const fs::path& path, const struct stat& file) {
            if (keeper && is_log(path) && !keeper->may_write(file))
                note_file(unwritable, path, file);
            if (group && !group_may_read(*group, file)) {
                note_file(unreadable, path, file);
                shared = shared && path.filename() != "topic.meta";
            }
        });
        if (unwritable.files != 0)
            surroundings.keeper_cannot_write.push_back(unwritable);
        if (unreadable.files != 0 && shared)
            surroundings.consumers_cannot_read.push_back(unreadable);
    }
}

/// A deleted topic's files were moved to the trash before they were removed; these were not.
void look_for_removed_files(const BrokerStats& stats, Surroundings& surroundings) {
    std::error_code error;
    const std::string directory = fs::canonical(stats.directory, error).string();
    if (error)
        return;
    constexpr std::string_view kRemoved = " (deleted)";
    for (const ClientStats& client : stats.clients) {
        if (client.process == ProcessState::unknown)
            continue;
        std::vector<std::string> paths;
        std::ifstream maps(fmt::format("/proc/{}/maps", client.client.pid));
        for (std::string line; std::getline(maps, line);) {
            const std::size_t at = line.find('/');
            if (at == std::string::npos || !line.ends_with(kRemoved))
                continue;
            const std::string path = line.substr(at, line.size() - at - kRemoved.size());
            if (path.starts_with(directory + "/topics/") || path == directory + "/clients")
                paths.push_back(path);
        }
        std::sort(paths.begin(), paths.end());
        paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
        for (std::string& path : paths)
            surroundings.removed_files.push_back({client.client.pid, std::move(path)});
    }
}

namespace {

/// When the file was last truncated, written to by write(2), renamed or made; of one that is missing, when names in its directory
/// last changed. 0: not known.
std::int64_t changed_ns(const fs::path& path) {
    constexpr std::int64_t kNsPerSecond = 1'000'000'000;
    struct stat file {};
    if (::stat(path.c_str(), &file) == 0)
        return std::int64_t{file.st_ctim.tv_sec} * kNsPerSecond + file.st_ctim.tv_nsec;
    if (::stat(path.parent_path().c_str(), &file) == 0)
        return std::int64_t{file.st_mtim.tv_sec} * kNsPerSecond + file.st_mtim.tv_nsec;
    return 0;
}

}  // namespace

void look_at_damaged_files(const BrokerStats& stats, Surroundings& surroundings) {
    for (const TopicStats& topic : stats.topics) {
        const fs::path directory = fs::path(stats.directory) / "topics" / topic.name;
        if (!topic.error.empty()) {
            std::int64_t newest = 0;
            for (const char* file : {"topic.meta", "readers", "groups"})
                newest = std::max(newest, changed_ns(directory / file));
            surroundings.damaged_files.push_back({topic.name, std::nullopt, newest});
        }
        for (const PartitionStats& partition : topic.partitions) {
            if (!partition.error.empty())
                surroundings.damaged_files.push_back(
                    {topic.name, partition.partition, changed_ns(directory / fmt::format("{}.log", partition.partition))});
        }
    }
}

}  // namespace ringmain::cli
