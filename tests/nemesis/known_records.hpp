// Every record of a run as far as anybody knows it, by id and by offset. A log that answers with offsets is its own
// order: nothing has to be searched for.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "event.hpp"
#include "verdict.hpp"

namespace ringmain::nemesis {

inline constexpr std::uint64_t kNowhere = std::numeric_limits<std::uint64_t>::max();

enum class TopicUse : std::uint8_t { stream, queue, letters };
struct TopicRule {
    TopicUse use = TopicUse::stream;
    std::uint32_t partitions = 1;
    bool gated = false;  // the auditor and the group hold it: nothing may be lost, not even with a report
};

/// A topic's partition when all was done.
struct PartitionEnd {
    std::uint64_t log_start = 0;
    std::uint64_t log_end = 0;
    std::uint64_t committed = 0;  // of its group or queue
};

/// A whole run.
struct Run {
    std::vector<History> histories;  // by life
    std::vector<TopicRule> topics;
    std::vector<std::vector<PartitionEnd>> ends;  // by topic, partition
    std::uint64_t lock_ns = 0;                    // of the queues
};

struct Known {
    std::uint64_t id = 0;
    std::uint64_t offset = kNowhere;
    std::uint64_t invoked = 0;              // when
    std::uint64_t acknowledged = kNowhere;  // when; kNowhere: nobody heard
    std::uint32_t stamp = 0;
    std::uint8_t topic = 0;
    std::uint8_t partition = 0;
    bool refused = false;
    bool audited = false;  // the auditor read it
    Place sent;
    Place answered;
    Place seen;  // by whom it was read first
    [[nodiscard]] bool is_acknowledged() const noexcept { return acknowledged != kNowhere; }
};

class KnownRecords {
public:
    /// Says what contradicts itself on the way: phantoms, duplicates, torn records.
    KnownRecords(const Run& run, Verdict& verdict);

    [[nodiscard]] const std::vector<Known>& all() const noexcept { return all_; }
    /// Those of a partition whose offset is known, in order of it.
    [[nodiscard]] const std::vector<const Known*>& in(std::uint8_t topic, std::uint8_t partition) const {
        return by_offset_.at(topic).at(partition);
    }
    /// The first record in [from, to).
    [[nodiscard]] const Known* between(std::uint8_t topic, std::uint8_t partition, std::uint64_t from,
                                       std::uint64_t to) const;
    [[nodiscard]] const Known* find(std::uint64_t id) const { return const_cast<KnownRecords*>(this)->look_up(id); }

private:
    Known* look_up(std::uint64_t id);
    void take_sent(const Run& run);
    void take_answers(const Run& run);
    void take_read(const History& history, Place place);
    void sort_by_offset(const Run& run);

    Verdict& verdict_;
    std::vector<Known> all_;
    std::vector<std::vector<std::vector<const Known*>>> by_offset_;
};

}  // namespace ringmain::nemesis
