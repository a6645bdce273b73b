// What a topic is, without any of the ways in which it is made: the reference that random sequences are compared with.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ringmain/topic_options.hpp"

namespace ringmain::test {

using Text = std::optional<std::string>;  // nothing: null

struct ReferenceRecord {
    Text key;
    Text value;
    std::vector<std::pair<std::string, Text>> headers;
    std::int64_t timestamp_ns = 0;
    friend bool operator==(const ReferenceRecord&, const ReferenceRecord&) = default;

    [[nodiscard]] std::uint64_t bytes() const {
        std::uint64_t bytes = (key ? key->size() : 0) + (value ? value->size() : 0) + (headers.empty() ? 0 : 4);
        for (const auto& [name, text] : headers)
            bytes += 6 + name.size() + (text ? text->size() : 0);
        return bytes;
    }
};

/// One partition. Offsets are dense; `start` is where the oldest record is that is still kept.
struct ReferenceLog {
    std::uint64_t records = 0, slack = 0, chunk = 0;
    bool block = false;
    std::uint64_t first = 0, start = 0, end = 0;
    std::uint64_t start_min = 0,
                  start_max = 0;  // a batch looks for room once a run, so it is not known when the start moves
    bool extents_used = false;    // large records may push older ones out before their cells are needed
    std::map<std::uint64_t, ReferenceRecord> kept;

    /// Before a run of records: is there room? Moves the start of a block log as far as the lowest gate lets it.
    [[nodiscard]] bool make_room(const std::set<std::uint64_t>& gates, bool in_batch = false) {
        const std::uint64_t room = records - slack;
        if (!block || end - start_min < room)
            return true;
        const std::uint64_t target = std::min(end, end - room + chunk);
        const std::uint64_t reached = gates.empty() ? target : std::min(target, *gates.begin());
        start_max = std::max(start_max, reached);
        if (in_batch)
            return true;
        if (end - start >= room)
            start = std::max(start, reached);
        start_min = start_max = start;
        return end - start < room;
    }

    std::uint64_t publish(const ReferenceRecord& record) {
        if (!block && end - first >= records && start <= end - records)
            start = start_min = start_max = end - records + chunk;
        kept[end] = record;
        return end++;
    }

    /// The log says where it starts: exactly there, unless large records needed their memory.
    [[nodiscard]] bool agrees_on_start(std::uint64_t real) {
        if (real < start_min || real > end || (real > start_max && !extents_used))
            return false;
        start = start_min = start_max = real;
        kept.erase(kept.begin(), kept.lower_bound(start));
        return true;
    }

    /// The first offset whose record is not before `time_ns`, or the end.
    [[nodiscard]] std::uint64_t since(std::int64_t time_ns) const {
        const auto found = std::find_if(kept.begin(), kept.end(), [&](const auto& at) {
            return at.first >= start && at.second.timestamp_ns >= time_ns;
        });
        return found == kept.end() ? end : found->first;
    }
};

}  // namespace ringmain::test
