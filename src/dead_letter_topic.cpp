// The topic that a group's dead letters go to: found or created, and checked.
#include "dead_letter_topic.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>

#include "daemon_requests.hpp"
#include "dead_letter_cycle.hpp"
#include "dead_letter_headers.hpp"
#include "error_about.hpp"
#include "group_member.hpp"
#include "platform/rights.hpp"
#include "platform/system_failure.hpp"
#include "recovery/recovery.hpp"
#include "ringmain/dead_letters.hpp"
#include "sound_log.hpp"
#include "topic_paths.hpp"
#include "work_settings.hpp"
#include "work_table/work_words.hpp"

namespace ringmain {

namespace {

using Log = partition_log::LogMemory<platform::HostMemory>;

constexpr std::uint64_t kLettersMin = 64;
constexpr std::uint64_t kLettersMax = 4'096;  // that a created topic holds in each partition
constexpr std::uint64_t kRecordsPerSlot = 4;  // as check_topic_options wants it
constexpr std::uint64_t kExtentsPerSlot = 2;
constexpr std::uint64_t kLetterBytesUsual = 1'024;  // so that it holds so many of a usual size
// Processes that write letters to one partition at one time. Each that comes and goes may leave the rest of one of
// twice as many extents behind, so that there are more of them where they cost nothing.
constexpr std::uint32_t kSlotsMin = 4;
constexpr std::uint32_t kSlotsWanted = 16;
constexpr std::uint32_t kSlotsMax = 256;
constexpr int kAttempts = 1'000;  // of finding a topic that others delete and create all the time

std::uint64_t record_bytes_max_of(const TopicOptions& options) { return record_bytes_max(geometry_for(options)); }

class Checks {
public:
    Checks(const Broker::Impl& broker, const TopicFiles& origin, std::string_view group, std::string_view letters)
        : broker_(broker), origin_(origin), sender_(group_text(group, origin.name())), letters_(letters) {}

    // What needs no such topic to be seen.
    void check_name() const {
        if (letters_ == origin_.name())
            refuse(ErrorCode::invalid_argument, "that is the topic itself");
    }

    void check_way_back() const {
        if (const auto way = way_of_letters_back(broker_, origin_.name(), letters_))
            refuse(ErrorCode::invalid_argument, "they would come back, " + *way + ", and go round for ever");
    }

    void check_topic(const TopicFiles& letters) const {
        check_size(letters);
        try {
            check_writable(letters);
        } catch (const Error& error) {
            throw Error(error.code(), error.object(), text() + error.what(), error.system_error());
        }
    }

private:
    [[nodiscard]] std::string text() const {
        return sender_ + " cannot send its dead letters to topic '" + std::string(letters_) + "': ";
    }
    [[noreturn]] void refuse(ErrorCode code, const std::string& why) const {
        throw Error(code, std::string(letters_), text() + why);
    }

    void check_size(const TopicFiles& letters) const {
        const std::uint64_t record = record_bytes_max_of(origin_.options());
        const std::uint64_t held = record_bytes_max_of(letters.options());
        if (held >= record + kLetterHeadersBytesMax)
            return;
        refuse(ErrorCode::invalid_argument,
               "its records have at most " + std::to_string(held) + " bytes, and a letter can have " +
                   std::to_string(record + kLetterHeadersBytesMax) + ": " + std::to_string(record) +
                   " of the record and " + std::to_string(kLetterHeadersBytesMax) + " of its headers");
    }

    void check_writable(const TopicFiles& letters) const {
        if (!letters.readers_writable())
            throw platform::system_failure("write", readers_path(letters.directory()), EACCES);
        for (std::uint32_t p = 0; p < letters.options().partitions; ++p) {
            const platform::Mapping file = letters.map_partition(p, platform::Access::read_write);
            const Log log(file.data(), geometry_of(file), letters.readers(p), letters.group_gates(p));
            check_log(log, p);
        }
    }

    void check_log(const Log& log, std::uint32_t partition) const {
        const partition_log::ControlCheck check = sound_offsets(log, letters_, partition);
        if (check.end > work_table::kTicketMax) {
            throw error_about(ErrorCode::invalid_argument, partition_text(letters_, partition),
                              "is at offset " + std::to_string(check.end) + ", and letters have offsets up to " +
                                  std::to_string(work_table::kTicketMax));
        }
        check_shared(log, partition);
    }

    void check_shared(const Log& log, std::uint32_t partition) const {
        const std::uint64_t lease = log.control->lease.load(std::memory_order_acquire);  // acquire LEASE
        if (lease == 0)
            return;
        const std::uint32_t slot = recovery::lease_slot(lease);
        // acquire ENTRY
        const std::uint64_t owner =
            slot < log.producer_slots ? log.producers[slot].owner.load(std::memory_order_acquire) : 0;
        if (owner == 0 || broker_.clients().proven_dead_word(owner))
            return;
        throw error_about(
            ErrorCode::busy, partition_text(letters_, partition),
            "is held exclusively by " +
                to_string(broker_.clients().describe(layout::ClientId::from_word(layout::client_of(owner)))) +
                "; letters come from many");
    }

    const Broker::Impl& broker_;
    const TopicFiles& origin_;
    std::string sender_;
    std::string_view letters_;
};

// Nothing: there is none.
std::shared_ptr<const TopicFiles> open_if_there(const Broker::Impl& broker, std::string_view name) {
    try {
        return broker.open_topic(name);
    } catch (const Error& error) {
        if (!is_gone(error))
            throw;
        return nullptr;
    }
}

// Not everybody may give files away: then the owner is who creates them, and the group too.
void create(Broker::Impl& broker, std::string_view name, TopicOptions options) {
    for (;;) {
        try {
            (void)create_topic_somehow(broker, name, options);
            return;
        } catch (const Error& error) {
            if (error.code() == ErrorCode::topic_deleted)
                return;  // by somebody else, at once: the caller looks again
            if (error.code() != ErrorCode::permission_denied || !options.access.group)
                throw;
        }
        (options.access.owner ? options.access.owner : options.access.group).reset();
    }
}

}  // namespace

DeadLetterTopic dead_letter_topic_of(const layout::WorkSettings& settings) {
    return {letters_id(settings), std::string(letters_name(settings)), settings.letters_partitions};
}

std::string dead_letter_topic_name(std::string_view origin, std::string_view wanted) {
    std::string name(wanted.empty() ? std::string(origin) + ".dlq" : std::string(wanted));
    check_topic_name(name);
    return name;
}

TopicOptions dead_letter_topic_options(std::string_view origin, const TopicOptions& of_origin) {
    const std::uint64_t record_bytes = record_bytes_max_of(of_origin);
    const std::uint64_t letter_bytes = record_bytes + kLetterHeadersBytesMax;
    if (letter_bytes > kExtentBytesMax) {
        throw error_about(ErrorCode::invalid_argument, "topic '" + std::string(origin) + "'",
                          "has records of up to " + std::to_string(record_bytes) + " bytes; with the " +
                              std::to_string(kLetterHeadersBytesMax) +
                              " of a dead letter's headers that is more than any topic holds, " +
                              std::to_string(kExtentBytesMax));
    }
    TopicOptions options;
    options.partitions = of_origin.partitions;
    options.records = std::clamp(of_origin.records, kLettersMin, kLettersMax);
    const std::uint64_t extent_bytes = std::max(kExtentBytesMin, std::bit_ceil(letter_bytes));
    const std::uint64_t usual_bytes = options.records * kLetterBytesUsual;
    const std::uint64_t slots =
        std::clamp<std::uint64_t>(usual_bytes / (kExtentsPerSlot * extent_bytes),
                                  std::clamp(of_origin.producer_slots, kSlotsMin, kSlotsWanted), kSlotsMax);
    options.producer_slots = static_cast<std::uint32_t>(std::min(slots, options.records / kRecordsPerSlot));
    options.payload_bytes =
        std::max({kPayloadMin, kExtentsPerSlot * options.producer_slots * extent_bytes, usual_bytes});
    options.when_full = WhenFull::block;
    return options;
}

void keep_letters(const std::shared_ptr<Broker::Impl>& broker, const std::shared_ptr<const TopicFiles>& letters) {
    GroupOptions options;
    options.name = kDeadLettersGroup;
    options.gating = letters->options().when_full == WhenFull::block;
    options.on_loss = OnLoss::earliest;
    GroupMember::Nobody nobody;
    const GroupMember keeper(broker, letters, options, GroupMember::Role::bystander, nobody);
}

DeadLetterTopic provide_dead_letter_topic(const std::shared_ptr<Broker::Impl>& broker, const TopicFiles& origin,
                                          std::string_view group, std::string_view wanted) {
    const std::string name = dead_letter_topic_name(origin.name(), wanted);
    const Checks checks(*broker, origin, group, name);
    checks.check_name();
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
        const std::shared_ptr<const TopicFiles> letters = open_if_there(*broker, name);
        if (!letters) {
            TopicOptions options = dead_letter_topic_options(origin.name(), origin.options());
            options.access = platform::rights_of(meta_path(origin.directory()));
            create(*broker, name, options);
            continue;
        }
        try {
            checks.check_way_back();
            checks.check_topic(*letters);
            if (letters->options().when_full == WhenFull::block)
                keep_letters(broker, letters);
            return {letters->id(), name, letters->options().partitions};
        } catch (const Error& error) {
            if (error.code() != ErrorCode::topic_deleted)
                throw;
        }
    }
    throw Error(ErrorCode::not_ready, name, "topic '" + name + "' is deleted again and again");
}

}  // namespace ringmain
