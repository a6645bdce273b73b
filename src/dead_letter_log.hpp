// Writing dead letters: each at exactly the offset that was announced for it, or not at all.
//
// A letter is put together before its ticket is taken, so that the ticket is open for no longer than a cell is written:
// a reader of the dead-letter topic closes what stays open. Who decides about letters is src/work_table/letters.hpp.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "broker_impl.hpp"
#include "dead_letter_topic.hpp"
#include "partition_log/doorbell.hpp"
#include "partition_log/reader.hpp"
#include "partition_log/record_parts.hpp"
#include "partition_producer.hpp"
#include "platform/mapping.hpp"
#include "platform/memory.hpp"
#include "record_copy.hpp"
#include "ringmain/dead_letter.hpp"
#include "topic_files.hpp"
#include "work_table/letters.hpp"

namespace ringmain {

/// Texts of errors, as far as the one who writes the letter knows them.
struct LetterErrors {
    std::string first;
    std::string last;
};

/// All partitions of a dead-letter topic, as one worker or runner writes to them. One thread at a time, one letter at a
/// time. In a fork()ed child it may be destroyed, nothing else.
class DeadLetterLogs {
public:
    using Memory = platform::HostMemory;
    using Log = partition_log::LogMemory<Memory>;

    /// `group`: whose letters they are. A topic without a name, one that is gone, or another one by now, makes them unusable, which is no
    /// error. Throws Error: permission_denied, version_mismatch, corrupt, forked, io.
    DeadLetterLogs(std::shared_ptr<Broker::Impl> broker, std::shared_ptr<const TopicFiles> origin, std::string group,
                   const DeadLetterTopic& letters);
    DeadLetterLogs(const DeadLetterLogs&) = delete;
    DeadLetterLogs& operator=(const DeadLetterLogs&) = delete;

    /// Gives back what the letters so far have taken in the dead-letter topic: a producer's slot in each partition, and
    /// the rest of an extent. The next letter takes it again. For who has none for a while.
    void rest() noexcept;
    /// The same once there has been no letter for a second. To be called now and then: writers of letters are many, and the places
    /// for them few.
    void rest_when_unused() noexcept;

private:
    friend class DeadLetterLog;

    struct Part {
        platform::Mapping mapping;  // without a slot: for closing
        Log log;
        std::unique_ptr<PartitionProducer> producer;  // from the first letter on
        bool corrupt = false;
        std::int64_t looked_at_ns = 0;  // as damaged as it is, for being whole again
    };

    /// The one letter that is put together.
    struct Prepared {
        std::uint32_t partition = 0;  // of the origin
        std::uint64_t offset = 0;
        std::uint32_t deliveries = 0;
        work_table::LetterReason reason = work_table::LetterReason::limit;
        partition_log::RecordParts parts;
        partition_log::Location location = partition_log::kInCell;
    };
    struct KnownErrors {
        std::uint32_t partition = 0;
        std::uint64_t offset = 0;
        LetterErrors texts;
    };

    /// Throws Error as TopicFiles::map_partition, but for topic_deleted.
    [[nodiscard]] Part* map(std::uint32_t partition);
    [[nodiscard]] bool usable(const Part* part) const noexcept;
    /// What the log says is to be believed: its file is the one that is open, whole, and its offsets agree. Asks the system.
    [[nodiscard]] bool is_sound(const Part& part, std::uint32_t partition) const noexcept;
    /// Opens what is at the path by now, if it can be used. Does so once in a while.
    void open_again(Part& part, std::uint32_t partition) noexcept;
    [[nodiscard]] Status attach(Part& part, std::uint32_t partition) noexcept;
    void compose(const partition_log::Reader<Memory>& source, std::uint32_t partition,
                 const work_table::LetterOf& letter);
    [[nodiscard]] bool knows_errors_of(std::uint32_t partition, std::uint64_t offset) const noexcept;
    void discard() noexcept;

    std::shared_ptr<Broker::Impl> broker_;
    std::shared_ptr<const TopicFiles> origin_;
    std::string group_;
    std::shared_ptr<const TopicFiles> topic_;  // null: gone
    std::vector<std::unique_ptr<Part>> parts_;
    RecordCopy copy_;
    std::vector<std::byte> headers_;
    std::optional<Prepared> prepared_;
    PartitionProducer* placed_by_ = nullptr;  // where the prepared letter's body is, if it is not in private memory
    std::optional<KnownErrors> errors_;
    std::int64_t used_ns_ = 0;  // when a letter was put together last; 0: what that took is given back
};

/// The dead-letter partition that belongs to one partition of the origin: what work_table::Lettering asks for. The logs
/// must outlive it.
class DeadLetterLog {
public:
    using Memory = platform::HostMemory;

    /// `source`: the origin's partition. Throws Error: permission_denied, version_mismatch, corrupt.
    DeadLetterLog(DeadLetterLogs& logs, std::uint32_t partition, const partition_log::Reader<Memory>& source);

    /// False: the dead-letter topic was deleted, for ever.
    [[nodiscard]] bool usable() const noexcept { return logs_->usable(part_); }

    /// What went wrong with the record, told before its letter is written; for that letter alone. Longer texts are cut.
    void set_errors(std::uint64_t offset, std::string_view first, std::string_view last) noexcept;

    /// Copies the record and puts the letter together, in the dead-letter topic's memory if it is large. To be called
    /// before the ticket is taken; commit_at does it otherwise. ok, or why there will be no letter now.
    [[nodiscard]] Status prepare(const work_table::LetterOf& letter) noexcept;

    [[nodiscard]] work_table::LetterTicket take_ticket() noexcept;
    void give_up(std::uint64_t ticket) noexcept;
    /// Requires a ticket of this object.
    [[nodiscard]] work_table::Sent commit_at(std::uint64_t ticket, const work_table::LetterOf& letter) noexcept;
    /// Of any ticket, taken by whomever. impossible: the log never gave it out. Nothing: the log is damaged, or its file is not
    /// there any more; whether there is a letter at the ticket cannot be known.
    [[nodiscard]] std::optional<partition_log::Decision> close(std::uint64_t ticket) noexcept;

private:
    [[nodiscard]] Status attach() noexcept;
    [[nodiscard]] bool is_prepared(const work_table::LetterOf& letter) const noexcept;
    [[nodiscard]] partition_log::Decision decide(std::uint64_t ticket) const noexcept;

    DeadLetterLogs* logs_;
    std::uint32_t partition_;  // of the origin
    std::uint32_t letters_partition_ = 0;
    partition_log::Reader<Memory> source_;
    DeadLetterLogs::Part* part_ = nullptr;  // null: the topic was gone
};

}  // namespace ringmain
