// What lives that read have in common: noting records and gaps as they come.
#pragma once

#include "life.hpp"
#include "ringmain/consumer.hpp"
#include "stamped_value.hpp"

namespace ringmain::nemesis {

class ReadingLife : protected Life {
protected:
    using Kind = Event::Kind;
    using Life::Life;

    static Event at(std::string_view topic, std::uint32_t partition, Kind kind, std::uint64_t offset) {
        return {.kind = kind,
                .topic = topic_number(topic),
                .partition = static_cast<std::uint8_t>(partition),
                .offset = offset};
    }

    /// The id of a whole record; notes one that is torn. Its key, if it has one, is its id again.
    std::optional<std::uint64_t> check(const ConsumerRecord& record) {
        const auto id = open_value(record.value);
        const bool whole = id && (*id % 2 == 0) == record.key.has_value() &&
                           (!record.key || (record.key->size() == sizeof *id &&
                                            std::memcmp(record.key->data(), &*id, sizeof *id) == 0));
        if (whole)
            return id;
        note(at(record.topic, record.partition, Kind::torn, record.offset));
        return std::nullopt;
    }

    void note_delivered(const ConsumerRecord& record) {
        const auto id = check(record);
        if (!id)
            return;
        Event event = at(record.topic, record.partition, Kind::delivered, record.offset);
        event.id = *id;
        const auto stamp = record.stamp();
        event.aux = stamp ? static_cast<std::uint32_t>(stamp->sequence) : 0;
        note(event);
    }

    void note_gap(const Gap& gap) {
        Event event = at(gap.topic, gap.partition, gap.reason == GapReason::corrupt ? Kind::torn : Kind::gap, gap.from);
        event.id = gap.to;
        note(event);
    }

    /// Looks, and waits only if there is nothing.
    PollResult poll(Consumer& consumer, std::size_t records, std::chrono::milliseconds timeout) {
        const PollResult found = inside([&] { return consumer.poll(records); });
        const bool nothing = found.records.empty() && found.gaps.empty() && found.status == Status::ok;
        return nothing ? consumer.poll(records, timeout) : found;
    }

    /// Gaps come before the records that follow them in their partition.
    void note_poll(const PollResult& result) {
        auto gap = result.gaps.begin();
        for (const ConsumerRecord& record : result.records) {
            for (auto one = gap; one != result.gaps.end(); ++one) {
                if (one->partition == record.partition && one->topic == record.topic && one->to <= record.offset &&
                    !told(*one))
                    tell(*one);
            }
            note_delivered(record);
        }
        for (const Gap& one : result.gaps) {
            if (!told(one))
                tell(one);
        }
        told_.clear();
    }

private:
    [[nodiscard]] bool told(const Gap& gap) const { return std::find(told_.begin(), told_.end(), &gap) != told_.end(); }
    void tell(const Gap& gap) {
        note_gap(gap);
        told_.push_back(&gap);
    }
    std::vector<const Gap*> told_;
};

}  // namespace ringmain::nemesis
