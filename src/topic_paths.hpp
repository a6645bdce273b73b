// Names of the files and directories of a broker.
//
//   <directory>/
//     clients                    who is attached; its existence makes the directory a broker
//     keeper.lock                held by the one keeper
//     keeper.sock                where the daemon listens
//     topics.lock                held while a deleted topic is moved away
//     topics/<name>/             topic.meta  readers  groups  0.log  1.log ...
//       queues/<slot>-<born>/    workers  0.<generation>  1.<generation> ...   the work on that group's records
//       queues/.<client>-<n>/    the same while it is being built; within it, a file that is being built
//       letters                  of a dead-letter topic: which letters were replayed or purged
//       .letters-<client>-<n>    the same while it is being made
//     staging/<client>-<n>/      topics that are being built
//     trash/<client>-<n>/        deleted topics that are being removed
//     .making-<random>           one of the files above, not complete yet; locked by its maker
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "layout/readers.hpp"

namespace ringmain {

inline std::filesystem::path clients_path(const std::filesystem::path& broker) { return broker / "clients"; }
inline std::filesystem::path keeper_lock_path(const std::filesystem::path& broker) { return broker / "keeper.lock"; }
inline std::filesystem::path keeper_socket_path(const std::filesystem::path& broker) { return broker / "keeper.sock"; }
inline std::filesystem::path topics_lock_path(const std::filesystem::path& broker) { return broker / "topics.lock"; }
inline std::filesystem::path topics_path(const std::filesystem::path& broker) { return broker / "topics"; }
inline std::filesystem::path staging_path(const std::filesystem::path& broker) { return broker / "staging"; }
inline std::filesystem::path trash_path(const std::filesystem::path& broker) { return broker / "trash"; }

inline std::filesystem::path meta_path(const std::filesystem::path& topic) { return topic / "topic.meta"; }
inline std::filesystem::path readers_path(const std::filesystem::path& topic) { return topic / "readers"; }
inline std::filesystem::path letters_path(const std::filesystem::path& topic) { return topic / "letters"; }
inline std::filesystem::path groups_path(const std::filesystem::path& topic) { return topic / "groups"; }
inline std::filesystem::path partition_path(const std::filesystem::path& topic, std::uint32_t partition) {
    return topic / (std::to_string(partition) + ".log");
}

inline std::filesystem::path queues_path(const std::filesystem::path& topic) { return topic / "queues"; }
inline std::filesystem::path work_path(const std::filesystem::path& topic, std::uint32_t group_slot, std::uint64_t group_born) {
    return queues_path(topic) / (std::to_string(group_slot) + "-" + std::to_string(group_born));
}
inline std::filesystem::path workers_path(const std::filesystem::path& work) { return work / "workers"; }
inline std::filesystem::path work_words_path(const std::filesystem::path& work, std::uint32_t partition, std::uint32_t generation) {
    return work / (std::to_string(partition) + "." + std::to_string(generation));
}

[[nodiscard]] constexpr std::uint64_t readers_file_bytes(std::uint32_t partitions) noexcept {
    return layout::kReadersAt + partitions * layout::kReaderBlockBytes;
}

}  // namespace ringmain
