// Readers: from each offset to the next one, or to where a reported gap ends. Only closed tickets are passed in
// silence.
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "check.hpp"

namespace ringmain::nemesis {

namespace {

using Kind = Event::Kind;

class ReaderCheck {
public:
    ReaderCheck(const Run& run, const KnownRecords& records, std::uint32_t history, Verdict& verdict)
        : run_(run), records_(records), history_(history), verdict_(verdict) {}

    void check() {
        const History& history = run_.histories[history_];
        for (std::uint32_t e = 0; e < history.events.size(); ++e)
            take(history.events[e], {history_, e});
    }

private:
    struct Cursor {
        std::optional<std::uint64_t> next;  // nothing: it does not read there
        Place last;
    };

    void take(const Event& event, Place place) {
        if (event.topic >= run_.topics.size() || run_.topics[event.topic].use == TopicUse::letters)
            return;
        Cursor& cursor = cursors_[{event.topic, event.partition}];
        switch (event.kind) {
            case Kind::began:
            case Kind::assigned:
                cursor.next = event.offset;
                break;
            case Kind::delivered:
                step(cursor, event, place, event.offset + 1);
                break;
            case Kind::gap:
                ++verdict_.gaps;
                if (event.id <= event.offset)
                    verdict_.say(Fault::unreported_gap, "a gap without offsets", {place});
                step(cursor, event, place, event.id);
                break;
            case Kind::revoked:
            case Kind::lost:
                cursor.next.reset();
                break;
            default:
                return;
        }
        cursor.last = place;
    }

    void step(Cursor& cursor, const Event& event, Place place, std::uint64_t next) {
        const std::string where =
            "topic " + std::to_string(event.topic) + " partition " + std::to_string(event.partition);
        if (!cursor.next) {
            verdict_.say(Fault::handed_over_wrong, where + " was read without having it", {cursor.last, place});
        } else if (event.offset < *cursor.next) {
            verdict_.say(Fault::reordered,
                         where + ": offset " + std::to_string(event.offset) + " came when " +
                             std::to_string(*cursor.next) + " was next",
                         {cursor.last, place});
        } else if (event.offset > *cursor.next) {
            const Known* const passed = records_.between(event.topic, event.partition, *cursor.next, event.offset);
            if (passed != nullptr)
                verdict_.say(Fault::unreported_gap,
                             where + ": from " + std::to_string(*cursor.next) + " to " + std::to_string(event.offset) +
                                 " without a word, past the record at " + std::to_string(passed->offset),
                             {cursor.last, place, passed->answered});
            else if (run_.histories[history_].role == Role::auditor)
                verdict_.skipped += event.offset - *cursor.next;
        }
        cursor.next = next;
    }

    const Run& run_;
    const KnownRecords& records_;
    std::uint32_t history_;
    Verdict& verdict_;
    std::map<std::pair<std::uint8_t, std::uint8_t>, Cursor> cursors_;
};

}  // namespace

void check_readers(const Run& run, const KnownRecords& records, Verdict& verdict) {
    for (std::uint32_t h = 0; h < run.histories.size(); ++h) {
        const Role role = run.histories[h].role;
        if (role == Role::reader || role == Role::auditor || role == Role::member)
            ReaderCheck(run, records, h, verdict).check();
    }
}

}  // namespace ringmain::nemesis
