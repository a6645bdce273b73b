// An open dead-letter topic: its letters that are not settled, and settling them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "broker_impl.hpp"
#include "group_table/groups_memory.hpp"
#include "letters_file.hpp"
#include "partition_log/log_memory.hpp"
#include "platform/mapping.hpp"
#include "record_copy.hpp"
#include "ringmain/dead_letters.hpp"
#include "topic_files.hpp"

namespace ringmain {

/// The group that keeps a topic's letters; nothing: the topic keeps none.
[[nodiscard]] std::optional<group_table::GroupRef> find_letters_group(const TopicFiles& topic);

/// Where records can be that are not settled: from what is committed and kept to the log end.
struct LetterRange {
    std::uint64_t from = 0;
    std::uint64_t to = 0;
    std::uint64_t lost = 0;  ///< Offsets behind the committed one that are no longer there.
};
[[nodiscard]] LetterRange letter_range(const partition_log::LogMemory<platform::HostMemory>& log,
                                       const TopicFiles& topic, const std::optional<group_table::GroupRef>& group,
                                       std::uint32_t partition) noexcept;

/// What is not settled of a partition, by the words alone. `settled` may be null: nothing is.
struct Unsettled {
    std::uint64_t records = 0;
    std::int64_t oldest_ns = 0;  ///< Timestamp of the first, since the Unix epoch; 0: there is none.
};
[[nodiscard]] Unsettled count_unsettled(const partition_log::LogMemory<platform::HostMemory>& log,
                                        const LetterRange& range, const LettersFile* settled,
                                        std::uint32_t partition) noexcept;

/// For one call: what it opened stays as it is.
class LetterTopic {
public:
    using Memory = platform::HostMemory;
    using Log = partition_log::LogMemory<Memory>;

    enum class For : std::uint8_t {
        reading,
        settling,  ///< Makes the file and the group if they are not there.
    };
    /// Throws Error as Broker::Impl::open_topic; for settling also as LettersFile::open_or_create and keep_letters.
    LetterTopic(std::shared_ptr<Broker::Impl> broker, std::string_view name, For purpose);

    [[nodiscard]] const TopicFiles& files() const noexcept { return *files_; }
    [[nodiscard]] const std::string& name() const noexcept { return files_->name(); }
    [[nodiscard]] std::uint32_t partitions() const noexcept { return files_->options().partitions; }
    /// Throws Error not_found for a partition that the topic has not.
    void check_filter(const LetterFilter& filter) const;
    /// Requires one that is open for settling, or to be asked first.
    [[nodiscard]] LettersFile& file() noexcept { return *file_; }
    [[nodiscard]] bool has_file() const noexcept { return file_.has_value(); }

    [[nodiscard]] LetterRange range(std::uint32_t partition) const noexcept {
        return letter_range(log(partition), *files_, group_, partition);
    }
    [[nodiscard]] const Log& log(std::uint32_t partition) const noexcept { return parts_[partition].log; }

    /// The next offset in [from, to) with a record that is not settled, if it is sound; or one whose bytes contradict
    /// the layout, which is shown as a record without anything. Throws as check_whole.
    [[nodiscard]] std::optional<std::uint64_t> next(std::uint32_t partition, std::uint64_t from, std::uint64_t to,
                                                    RecordCopy& copy, ConsumerRecord& record) const;
    /// Calls `use(offset, record)` for each of these that the partition has now; false ends it.
    template <class Use>
    void for_each(std::uint32_t partition, RecordCopy& copy, const Use& use) const {
        const LetterRange all = range(partition);
        ConsumerRecord record;
        for (auto at = next(partition, all.from, all.to, copy, record); at; at = next(partition, *at + 1, all.to, copy, record)) {
            if (!use(*at, record)) return;
        }
    }
    /// Throws as check_whole.
    [[nodiscard]] std::uint64_t count(std::uint32_t partition) const {
        const Unsettled found = count_unsettled(log(partition), range(partition), file_ ? &*file_ : nullptr, partition);
        check_whole(partition);
        return found.records;
    }
    /// What was read of the partition and its letters up to now is to be believed. Throws Error corrupt if a file of theirs was
    /// found truncated.
    void check_whole(std::uint32_t partition) const;

    // Settling. Requires LettersInHand. All throw as check_whole.

    void settle(std::uint32_t partition, std::uint64_t offset, Settlement how);
    /// Commits what is settled at the beginning of the partition, for the group that keeps the letters.
    void advance(std::uint32_t partition);
    /// Closes tickets that hold the partition's beginning up, and advances.
    void close_stalled(std::uint32_t partition);
    /// Throws Error busy if the group has members: they would commit on their own.
    void refuse_members() const;

private:
    struct Part {
        platform::Mapping mapping;
        Log log;
    };
    [[nodiscard]] bool is_settled(std::uint32_t partition, std::uint64_t offset) const noexcept {
        return file_ && file_->is_settled(partition, offset);
    }
    /// The first offset from `from` on that is neither settled nor empty.
    [[nodiscard]] std::uint64_t unsettled_from(std::uint32_t partition, std::uint64_t from) const noexcept;

    std::shared_ptr<Broker::Impl> broker_;
    std::shared_ptr<const TopicFiles> files_;
    std::vector<Part> parts_;
    std::optional<LettersFile> file_;
    std::optional<group_table::GroupRef> group_;
};

}  // namespace ringmain
