// Summaries of dead letters, and reading them.
#include <algorithm>
#include <map>
#include <utility>

#include "dead_letters_impl.hpp"
#include "letter_topic.hpp"
#include "partition_log/log_start.hpp"

namespace ringmain {

namespace {

class Summing {
public:
    explicit Summing(const LetterTopic& topic) : topic_(topic) {
        summary_.topic = topic.name();
        summary_.when_full = topic.files().options().when_full;
    }

    void add(const ConsumerRecord& record, std::uint64_t bytes) {
        const DecodedLetter decoded = decode_dead_letter(record);
        ++(decoded.letter ? summary_.letters : summary_.others);
        summary_.bytes += bytes;
        widen(summary_, record.timestamp_ns);
        if (!decoded.letter)
            return;
        LetterGroupSummary& group = groups_[{std::string(decoded.letter->topic), std::string(decoded.letter->group)}];
        ++group.letters;
        ++group.by_reason[static_cast<std::size_t>(decoded.letter->reason)];
        widen(group, record.timestamp_ns);
    }

    void add_partition(std::uint32_t partition) {
        const LetterRange all = topic_.range(partition);
        summary_.lost += all.lost;
        const auto& log = topic_.log(partition);
        const std::uint64_t capacity = log.records - log.slack;
        const std::uint64_t used = std::min(all.to - all.from, capacity);
        room_ = std::min(room_, capacity - used);
    }

    [[nodiscard]] DeadLetterSummary take() {
        summary_.room = room_;
        for (auto& [name, group] : groups_) {
            group.topic = name.first;
            group.group = name.second;
            summary_.groups.push_back(std::move(group));
        }
        return std::move(summary_);
    }

private:
    template <class Times>
    static void widen(Times& times, std::int64_t timestamp_ns) noexcept {
        times.oldest_ns = times.oldest_ns == 0 ? timestamp_ns : std::min(times.oldest_ns, timestamp_ns);
        times.newest_ns = std::max(times.newest_ns, timestamp_ns);
    }

    const LetterTopic& topic_;
    DeadLetterSummary summary_;
    std::uint64_t room_ = ~std::uint64_t{0};
    std::map<std::pair<std::string, std::string>, LetterGroupSummary> groups_;
};

}  // namespace

DeadLetterSummary DeadLetters::Impl::summarize(std::string_view name) const {
    LetterTopic topic(impl(), name, LetterTopic::For::reading);
    Summing sum(topic);
    RecordCopy copy;
    for (std::uint32_t p = 0; p < topic.partitions(); ++p) {
        sum.add_partition(p);
        topic.for_each(p, copy, [&](std::uint64_t, const ConsumerRecord& record) {
            sum.add(record, copy.view().length);
            return true;
        });
    }
    DeadLetterSummary summary = sum.take();
    if (topic.has_file()) {
        summary.replayed = topic.file().replayed();
        summary.purged = topic.file().purged();
    }
    return summary;
}

std::uint64_t DeadLetters::Impl::count(std::string_view name) const {
    const LetterTopic topic(impl(), name, LetterTopic::For::reading);
    std::uint64_t count = 0;
    for (std::uint32_t p = 0; p < topic.partitions(); ++p)
        count += topic.count(p);
    return count;
}

void DeadLetters::Impl::read(std::string_view name, const LetterFilter& filter, const Visit& visit) const {
    const LetterTopic topic(impl(), name, LetterTopic::For::reading);
    topic.check_filter(filter);
    RecordCopy copy;
    bool more = true;
    for (std::uint32_t p = 0; p < topic.partitions() && more; ++p) {
        topic.for_each(p, copy, [&](std::uint64_t, const ConsumerRecord& record) {
            const DecodedLetter decoded = decode_dead_letter(record);
            more = !matches(filter, record, decoded) || visit(record, decoded);
            return more;
        });
    }
}

}  // namespace ringmain
