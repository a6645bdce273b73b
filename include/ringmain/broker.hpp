// A broker is one directory. This class opens it, and creates, lists and deletes topics in it.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ringmain/error.hpp"
#include "ringmain/export.hpp"
#include "ringmain/topic_options.hpp"

namespace ringmain {

/// $RINGMAIN_DIR, or /dev/shm/ringmain.
RINGMAIN_API std::filesystem::path default_broker_directory();

/// One finding of `verify`.
struct Damage {
    std::string file;
    std::string what;
};

struct VerifyReport {
    std::uint64_t topics = 0;
    std::uint64_t partitions = 0;
    std::uint64_t records = 0;
    std::uint64_t skipped = 0;  ///< Offsets whose ticket was closed.
    std::uint64_t open = 0;     ///< Tickets that are open at this moment.
    std::vector<Damage> damage;
};

/// The raw bytes of one cell and what they mean.
struct CellDump {
    std::uint64_t offset = 0;
    std::uint64_t word = 0;
    std::string meaning;             ///< E.g. "committed, offset 17" or "quarantined by the closing of offset 17".
    std::int64_t timestamp_ns = 0;
    std::uint32_t length = 0;
    std::uint16_t key_length = 0;
    std::uint16_t flags = 0;
    std::uint64_t file_position = 0; ///< Byte position of the cell in the partition's file.
    std::vector<std::byte> cell;     ///< The whole cell.
    std::vector<std::byte> body;     ///< Value, key and headers of a committed record that is still valid.
};

/// What a deletion of records did. Nobody's record before a gate is deleted.
struct RecordsDeleted {
    std::uint64_t from = 0;  ///< The log start before.
    std::uint64_t to = 0;    ///< The log start now: less than what was asked for if a gate holds it there.
    std::string holder;      ///< In words, what holds it; empty if nothing does.
};

/// A broker directory, open in this process.
///
/// Thread safety: all calls may be made from several threads. It must outlive nothing: producers, consumers and
/// keepers made from it keep what they need. After fork() the child's copy answers `ErrorCode::forked`.
/// A moved-from broker may be assigned to or destroyed, nothing else; copies are cheap and refer to the same directory.
/// If the process dies at any point, nothing is left that needs a manual rm: what was half made is swept by the
/// next creation or keeper.
class RINGMAIN_API Broker {
public:
    enum class Mode : std::uint8_t {
        open,            ///< The directory must exist and be a broker.
        open_or_create,  ///< Make the directory a broker if it is absent or empty; its parent directory must exist.
    };

    /// Throws Error: not_found, permission_denied, version_mismatch, corrupt, no_space, io.
    explicit Broker(std::filesystem::path directory = default_broker_directory(), Mode mode = Mode::open);

    [[nodiscard]] const std::filesystem::path& directory() const noexcept;

    /// This object made the directory a broker (open_or_create only); otherwise it was one.
    [[nodiscard]] bool is_new() const noexcept;

    /// Creates a topic, all or nothing: every page is allocated and touched before the topic becomes visible.
    /// Throws Error: already_exists, invalid_argument (names option, value, range), no_space (needed and free
    /// bytes), permission_denied, limit, io, interrupted, topic_deleted (by somebody else, before it could be described).
    /// `stop`: asked every few milliseconds; once it says true, the creation is given up and nothing of it is left.
    TopicDescription create_topic(std::string_view name, const TopicOptions& options = {},
                                  const std::function<bool()>& stop = {});

    /// Opens the topic or creates it. Throws `mismatch` if it exists with other options; otherwise as create_topic.
    TopicDescription ensure_topic(std::string_view name, const TopicOptions& options = {});

    /// Deletes a topic, also one that cannot be opened because its files are damaged; open handles answer `topic_deleted` from
    /// then on (of a damaged one those that its files still let be told). Throws Error: not_found, permission_denied.
    void delete_topic(std::string_view name);

    /// Changes what a keeper lets the topic keep, from its next step on. Requires the right to write the topic. Throws Error:
    /// not_found, permission_denied, invalid_argument. If the caller dies here, some limits may be the old ones.
    void set_retention(std::string_view name, const Retention& retention);

    /// Changes who may use the topic's files. Handles that are open stay so. Throws Error: not_found, permission_denied,
    /// invalid_argument. If the caller dies here, some files may have the old rights: call it again.
    void set_access(std::string_view name, const TopicAccess& access);

    /// Deletes the records of a partition before `offset`: readers that were behind get a gap event. Anybody with the right to
    /// write the topic, at any time. Throws Error: not_found, permission_denied, invalid_argument (beyond the log end), corrupt.
    RecordsDeleted delete_records(std::string_view name, std::uint32_t partition, std::uint64_t offset);

    /// Names of all topics, sorted.
    [[nodiscard]] std::vector<std::string> list_topics() const;

    /// Throws Error: not_found, version_mismatch, corrupt, permission_denied.
    [[nodiscard]] TopicDescription describe_topic(std::string_view name) const;

    /// Walks all files (or one topic's) read-only: headers, options, offsets, the state word of every cell and extent, and the
    /// lengths in every record. Bytes that nothing refers to, and those of keys and values, are not checked: they can be any.
    /// Damage is in the report; throws not_found for an unknown topic.
    [[nodiscard]] VerifyReport verify(std::string_view topic = {}) const;

    /// One cell. Throws Error: not_found, invalid_argument (offset outside [log_start, log_end)).
    [[nodiscard]] CellDump dump(std::string_view topic, std::uint32_t partition, std::uint64_t offset) const;

    /// Internal state shared with producers, consumers and keepers.
    class Impl;
    [[nodiscard]] const std::shared_ptr<Impl>& impl() const noexcept { return impl_; }

private:
    std::shared_ptr<Impl> impl_;
};

}  // namespace ringmain
