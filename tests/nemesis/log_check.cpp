// The log by itself: nothing acknowledged is lost, and everything is in order.
#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>

#include "check.hpp"

namespace ringmain::nemesis {

namespace {

using Kind = Event::Kind;

std::string text(const Known& one) {
    return std::to_string(life_of(one.id)) + "/" + std::to_string(sequence_of(one.id)) + " at offset " +
           std::to_string(one.offset) + " of topic " + std::to_string(one.topic) + " partition " +
           std::to_string(one.partition);
}

struct Range {
    std::uint64_t from;
    std::uint64_t to;
};

class LogCheck {
public:
    LogCheck(const Run& run, const KnownRecords& records, Verdict& verdict)
        : run_(run), records_(records), verdict_(verdict) {}

    void check() {
        for (std::uint8_t topic = 0; topic < run_.topics.size(); ++topic) {
            for (std::uint8_t partition = 0; partition < run_.topics[topic].partitions; ++partition) {
                if (run_.topics[topic].use == TopicUse::letters)
                    continue;
                check_audit(topic, partition);
                check_order(topic, partition);
                check_real_time(topic, partition);
            }
        }
        check_names();
    }

private:
    [[nodiscard]] std::vector<Range> told_gaps(std::uint8_t topic, std::uint8_t partition) {
        std::vector<Range> gaps;
        for (const History& history : run_.histories) {
            if (history.role != Role::auditor)
                continue;
            for (const Event& event : history.events) {
                if (event.kind == Kind::gap && event.topic == topic && event.partition == partition)
                    gaps.push_back({event.offset, event.id});
            }
        }
        return gaps;  // one auditor a partition: in order
    }

    void check_audit(std::uint8_t topic, std::uint8_t partition) {
        const std::vector<Range> gaps = told_gaps(topic, partition);
        if (run_.topics[topic].gated && !gaps.empty())
            verdict_.say(Fault::lost, "a gap at " + std::to_string(gaps[0].from) + " of topic " +
                                          std::to_string(topic) + ", whose records a gate holds");
        for (const Known* one : records_.in(topic, partition)) {
            if (!one->is_acknowledged() || one->audited)
                continue;
            const auto gap =
                std::upper_bound(gaps.begin(), gaps.end(), one->offset,
                                 [](std::uint64_t offset, const Range& range) { return offset < range.to; });
            if (gap != gaps.end() && gap->from <= one->offset)
                ++verdict_.reported_lost;
            else
                verdict_.say(Fault::lost, text(*one) + " was acknowledged and is not in the log",
                             {one->sent, one->answered});
        }
    }

    void check_order(std::uint8_t topic, std::uint8_t partition) {
        std::unordered_map<std::uint32_t, const Known*> last;  // by life
        std::map<std::uint32_t, const Known*> named;           // by the producer's index
        for (const Known* one : records_.in(topic, partition)) {
            const Known*& before = last[life_of(one->id)];
            if (before != nullptr && before->id > one->id)
                verdict_.say(Fault::reordered, text(*one) + " was sent before " + text(*before),
                             {one->sent, before->sent});
            before = one;
            if (one->stamp == 0)
                continue;
            const Known*& name = named[run_.histories[one->sent.history].index];
            if (name != nullptr && name->stamp >= one->stamp)
                verdict_.say(Fault::duplicated,
                             "sequence " + std::to_string(one->stamp) + " of " + text(*one) + " is not above that of " +
                                 text(*name),
                             {one->sent, name->sent});
            name = one;
        }
    }

    // Whoever was acknowledged before another one began lies before it.
    void check_real_time(std::uint8_t topic, std::uint8_t partition) {
        const Known* latest = nullptr;  // of those that lie before: the one that began last
        for (const Known* one : records_.in(topic, partition)) {
            if (latest != nullptr && one->acknowledged < latest->invoked)
                verdict_.say(Fault::reordered,
                             text(*one) + " was acknowledged before " + text(*latest) + " was sent, and lies behind it",
                             {one->answered, latest->sent});
            if (latest == nullptr || one->invoked > latest->invoked)
                latest = one;
        }
    }

    // What a successor is told is in the log, and what is in the log is what it is told.
    void check_names() {
        using Name = std::tuple<std::uint32_t, std::uint8_t, std::uint8_t>;
        std::map<Name, const Known*> last;  // the highest sequence that is, or may be, in the log
        for (std::uint32_t h = 0; h < run_.histories.size(); ++h) {
            const History& history = run_.histories[h];
            if (history.role != Role::producer)
                continue;
            for (std::uint32_t e = 0; e < history.events.size(); ++e) {
                const Event& event = history.events[e];
                const Name name{history.index, event.topic, event.partition};
                if (event.kind == Kind::resumed)
                    resume(event, {h, e}, last[name]);
                if (event.kind != Kind::invoked || event.aux == 0)
                    continue;
                const Known* const known = records_.find(event.id);
                if (known != nullptr && !known->refused)
                    last[name] = known;
            }
        }
    }

    void resume(const Event& event, Place place, const Known*& last) {
        const std::uint64_t stamp = last == nullptr ? 0 : last->stamp;
        const bool in_log = last != nullptr && last->offset != kNowhere;
        const bool heard = last != nullptr && last->is_acknowledged();
        if (event.offset == stamp && (in_log || last == nullptr))
            return;
        // Nobody heard of the last one, and nobody read it: it is there only if retention took it.
        const bool may_be_lost = last != nullptr && !run_.topics[event.topic].gated;
        if (!heard && !in_log && (event.offset < stamp || may_be_lost))
            return;
        std::vector<Place> places{place};
        if (last != nullptr)
            places.push_back(last->sent);
        verdict_.say(Fault::misnamed,
                     "was told that " + std::to_string(event.offset) + " is its last, and that is " +
                         std::to_string(stamp) + (in_log ? " in the log" : " not in the log"),
                     places);
    }

    const Run& run_;
    const KnownRecords& records_;
    Verdict& verdict_;
};

}  // namespace

void check_log(const Run& run, const KnownRecords& records, Verdict& verdict) {
    LogCheck(run, records, verdict).check();
}

Verdict check(const Run& run) {
    Verdict verdict;
    const KnownRecords records(run, verdict);
    for (std::uint32_t h = 0; h < run.histories.size(); ++h) {
        for (std::uint32_t e = 0; e < run.histories[h].events.size(); ++e) {
            const Event& event = run.histories[h].events[e];
            if (event.kind == Event::Kind::failed || (event.kind == Event::Kind::exited && event.extra != 0))
                verdict.say(Fault::failed, to_string(event), {{h, e}});
        }
    }
    check_log(run, records, verdict);
    check_readers(run, records, verdict);
    check_groups(run, records, verdict);
    check_queues(run, records, verdict);
    check_samples(run, verdict);
    return verdict;
}

}  // namespace ringmain::nemesis
