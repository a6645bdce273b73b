// Putting together what processes know of records.
#include "known_records.hpp"

#include <algorithm>
#include <string>

namespace ringmain::nemesis {

namespace {

using Kind = Event::Kind;

std::string name(std::uint64_t id) { return std::to_string(life_of(id)) + "/" + std::to_string(sequence_of(id)); }

template <class Each>
void for_each_event(const Run& run, const Each& each) {
    for (std::uint32_t h = 0; h < run.histories.size(); ++h) {
        for (std::uint32_t e = 0; e < run.histories[h].events.size(); ++e)
            each(run.histories[h], run.histories[h].events[e], Place{h, e});
    }
}

}  // namespace

KnownRecords::KnownRecords(const Run& run, Verdict& verdict) : verdict_(verdict) {
    take_sent(run);
    take_answers(run);
    for_each_event(run, [&](const History& history, const Event& event, Place place) {
        if (event.kind == Kind::delivered || event.kind == Kind::acquired)
            take_read(history, place);
        if (event.kind == Kind::torn)
            verdict_.say(Fault::torn, "a record whose bytes contradict each other", {place});
    });
    sort_by_offset(run);
    verdict_.records = all_.size();
}

Known* KnownRecords::look_up(std::uint64_t id) {
    const auto found = std::lower_bound(all_.begin(), all_.end(), id,
                                        [](const Known& one, std::uint64_t wanted) { return one.id < wanted; });
    return found != all_.end() && found->id == id ? &*found : nullptr;
}

void KnownRecords::take_sent(const Run& run) {
    for_each_event(run, [&](const History&, const Event& event, Place place) {
        if (event.kind != Kind::invoked)
            return;
        Known known;
        known.id = event.id;
        known.invoked = event.time;
        known.stamp = event.aux;
        known.topic = event.topic;
        known.partition = event.partition;
        known.sent = known.answered = known.seen = place;
        all_.push_back(known);
    });
    std::sort(all_.begin(), all_.end(), [](const Known& a, const Known& b) { return a.id < b.id; });
    const auto same = [](const Known& a, const Known& b) { return a.id == b.id; };
    for (auto at = std::adjacent_find(all_.begin(), all_.end(), same); at != all_.end();
         at = std::adjacent_find(std::next(at), all_.end(), same))
        verdict_.say(Fault::duplicated, "the name " + name(at->id) + " was given twice",
                     {at->sent, std::next(at)->sent});
}

void KnownRecords::take_answers(const Run& run) {
    for_each_event(run, [&](const History&, const Event& event, Place place) {
        if (event.kind != Kind::acknowledged && event.kind != Kind::refused)
            return;
        Known* const known = look_up(event.id);
        if (known == nullptr)
            return verdict_.say(Fault::phantom, "an answer for " + name(event.id) + ", which nobody sent", {place});
        known->answered = place;
        known->refused = event.kind == Kind::refused;
        if (known->refused)
            return;
        if (known->is_acknowledged())
            verdict_.say(Fault::duplicated, name(event.id) + " was acknowledged twice", {place});
        known->acknowledged = event.time;
        known->offset = event.offset;
        ++verdict_.acknowledged;
    });
}

void KnownRecords::take_read(const History& history, Place place) {
    const Event& event = history.events[place.event];
    Known* const known = look_up(event.id);
    if (known == nullptr || known->topic != event.topic || known->partition != event.partition)
        return verdict_.say(Fault::phantom, name(event.id) + " was read, and nobody sent it there", {place});
    if (known->refused)
        return verdict_.say(Fault::phantom, name(event.id) + " was read, and its publishing was refused",
                            {known->answered, place});
    if (known->invoked > event.time)
        verdict_.say(Fault::phantom, name(event.id) + " was read before it was sent", {known->sent, place});
    if (known->offset == kNowhere) {
        known->offset = event.offset;
        known->seen = place;
    } else if (known->offset != event.offset) {
        verdict_.say(Fault::duplicated,
                     name(event.id) + " is at offset " + std::to_string(known->offset) + " and at " +
                         std::to_string(event.offset),
                     {known->is_acknowledged() ? known->answered : known->seen, place});
    }
    if (event.kind == Kind::delivered && known->stamp != event.aux)
        verdict_.say(Fault::torn, name(event.id) + " came with another sequence", {known->sent, place});
    if (history.role == Role::auditor) {
        if (known->audited)
            verdict_.say(Fault::duplicated, name(event.id) + " was read twice by the auditor", {known->seen, place});
        known->audited = true;
        known->seen = place;
    }
}

void KnownRecords::sort_by_offset(const Run& run) {
    for (const TopicRule& rule : run.topics)
        by_offset_.emplace_back(rule.partitions);
    for (const Known& known : all_) {
        if (known.offset != kNowhere)
            by_offset_.at(known.topic).at(known.partition).push_back(&known);
    }
    for (auto& topic : by_offset_) {
        for (auto& partition : topic) {
            std::sort(partition.begin(), partition.end(),
                      [](const Known* a, const Known* b) { return a->offset < b->offset; });
            for (std::size_t i = 1; i < partition.size(); ++i) {
                const Known& a = *partition[i - 1];
                const Known& b = *partition[i];
                if (a.offset == b.offset)
                    verdict_.say(Fault::duplicated,
                                 name(a.id) + " and " + name(b.id) + " are both at offset " + std::to_string(a.offset),
                                 {a.answered, b.answered});
            }
        }
    }
}

const Known* KnownRecords::between(std::uint8_t topic, std::uint8_t partition, std::uint64_t from,
                                   std::uint64_t to) const {
    const auto& all = in(topic, partition);
    const auto first = std::lower_bound(all.begin(), all.end(), from,
                                        [](const Known* one, std::uint64_t offset) { return one->offset < offset; });
    return first != all.end() && (*first)->offset < to ? *first : nullptr;
}

}  // namespace ringmain::nemesis
