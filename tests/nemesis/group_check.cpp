// Groups: tenures follow each other without a hole, commits only go forward, and every record comes at least once.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "check.hpp"

namespace ringmain::nemesis {

namespace {

using Kind = Event::Kind;

/// One member's time with one partition, or a reset.
struct Tenure {
    std::uint32_t generation = 0;
    std::uint64_t start = 0;
    bool reset = false;
    bool lost = false;
    std::uint64_t delivered = 0;      // one more than the last offset, gaps included
    std::uint64_t committed = 0;      // as answered last
    std::set<std::uint64_t> maybe{};  // tried or handed over, and nothing was heard of it
    Place begin;
    Place last;
};

class GroupCheck {
public:
    GroupCheck(const Run& run, const KnownRecords& records, std::uint8_t topic, std::uint8_t partition,
               Verdict& verdict)
        : run_(run), records_(records), topic_(topic), partition_(partition), verdict_(verdict) {}

    void check() {
        for (std::uint32_t h = 0; h < run_.histories.size(); ++h)
            take(h);
        verdict_.tenures += tenures_.size();
        check_chain();
        check_complete();
    }

private:
    void say(Fault fault, const Tenure& tenure, const std::string& what) {
        verdict_.say(fault,
                     "topic " + std::to_string(topic_) + " partition " + std::to_string(partition_) + " generation " +
                         std::to_string(tenure.generation) + ": " + what,
                     {tenure.begin, tenure.last});
    }

    void take(std::uint32_t h) {
        const History& history = run_.histories[h];
        Tenure* current = nullptr;
        for (std::uint32_t e = 0; e < history.events.size(); ++e) {
            const Event& event = history.events[e];
            if (history.role == Role::nemesis && (event.kind == Kind::stopped || event.kind == Kind::killed))
                disturbed_.insert(event.aux);
            if (history.role == Role::member && event.kind == Kind::left)
                left_.insert(history.life);
            if (event.topic != topic_ || event.partition != partition_)
                continue;
            if (event.kind == Kind::reset || (history.role == Role::member && event.kind == Kind::assigned)) {
                current = begin(event, {h, e});
            } else if (history.role == Role::member && current != nullptr) {
                current->last = {h, e};
                go_on(*current, event);
            }
        }
    }

    Tenure* begin(const Event& event, Place place) {
        Tenure tenure;
        tenure.generation = event.aux;
        tenure.start = tenure.delivered = tenure.committed = event.offset;
        tenure.reset = event.kind == Kind::reset;
        tenure.begin = tenure.last = place;
        const auto [at, fresh] = tenures_.emplace(event.aux, tenure);
        if (!fresh)
            verdict_.say(Fault::handed_over_wrong, "two owners in generation " + std::to_string(event.aux),
                         {at->second.begin, place});
        return &at->second;
    }

    void go_on(Tenure& tenure, const Event& event) {
        switch (event.kind) {
            case Kind::delivered:
                cover(event.offset, event.offset + 1, tenure);
                break;
            case Kind::gap:
                cover(event.offset, event.id, tenure);
                break;
            case Kind::committing:
                tenure.maybe.insert(event.offset);
                break;
            case Kind::commit_refused:
                tenure.maybe.erase(event.offset);
                break;
            case Kind::committed:
                commit(tenure, event.offset);
                break;
            case Kind::revoked:
                tenure.maybe.insert(event.offset);
                break;
            case Kind::lost:
                tenure.lost = true;
                break;
            default:
                break;
        }
    }

    void cover(std::uint64_t from, std::uint64_t to, Tenure& tenure) {
        covered_.emplace_back(from, to);
        tenure.delivered = std::max(tenure.delivered, to);
    }

    void commit(Tenure& tenure, std::uint64_t offset) {
        if (offset < tenure.committed)
            say(Fault::commit_backwards, tenure,
                "committed " + std::to_string(offset) + " after " + std::to_string(tenure.committed));
        if (records_.between(topic_, partition_, tenure.delivered, offset) != nullptr)
            say(Fault::commit_beyond_end, tenure,
                "committed " + std::to_string(offset) + ", and was given records up to " +
                    std::to_string(tenure.delivered));
        tenure.committed = offset;
        tenure.maybe.erase(tenure.maybe.begin(), tenure.maybe.upper_bound(offset));
    }

    /// Each begins exactly where the one before it ended. Generations that nobody noted had no time to commit.
    void check_chain() {
        const Tenure* before = nullptr;
        for (auto& [generation, tenure] : tenures_) {
            if (before != nullptr && !tenure.reset)
                check_step(*before, tenure);
            if (before != nullptr && tenure.reset && tenure.start > before->committed)
                covered_.emplace_back(before->committed, tenure.start);  // forward, by order
            before = &tenure;
        }
        const std::uint64_t end = run_.ends[topic_][partition_].committed;
        if (before != nullptr && end != before->committed && !before->maybe.contains(end))
            say(Fault::commit_backwards, *before,
                "in the end " + std::to_string(end) + " is committed, and the last one committed " +
                    std::to_string(before->committed));
    }

    void check_step(const Tenure& before, const Tenure& after) {
        if (after.start != before.committed && !before.maybe.contains(after.start)) {
            verdict_.say(after.start < before.committed ? Fault::commit_backwards : Fault::handed_over_wrong,
                         "topic " + std::to_string(topic_) + " partition " + std::to_string(partition_) +
                             " generation " + std::to_string(after.generation) + " began at " +
                             std::to_string(after.start) + ", and generation " + std::to_string(before.generation) +
                             " had committed " + std::to_string(before.committed),
                         {before.last, after.begin});
        }
        const std::uint32_t life = run_.histories[before.begin.history].life;
        const bool clean = !before.reset && !before.lost && !disturbed_.contains(life) && left_.contains(life);
        if (after.start < before.delivered && records_.between(topic_, partition_, after.start, before.delivered)) {
            ++verdict_.redelivered;
            if (clean)
                say(Fault::repeated, after,
                    "begins at " + std::to_string(after.start) + ", and one that left in good order had gone to " +
                        std::to_string(before.delivered));
        }
    }

    void check_complete() {
        std::sort(covered_.begin(), covered_.end());
        auto range = covered_.begin();
        std::uint64_t covered = 0;  // up to here, of the ranges before
        for (const Known* one : records_.in(topic_, partition_)) {
            for (; range != covered_.end() && range->first <= one->offset; ++range)
                covered = std::max(covered, range->second);
            if (one->is_acknowledged() && one->offset >= covered)
                verdict_.say(Fault::lost,
                             "topic " + std::to_string(topic_) + " partition " + std::to_string(partition_) +
                                 " offset " + std::to_string(one->offset) + ": the group never got it",
                             {one->sent, one->answered});
        }
        const PartitionEnd& end = run_.ends[topic_][partition_];
        if (end.committed != end.log_end)
            verdict_.say(end.committed > end.log_end ? Fault::commit_beyond_end : Fault::lost,
                         "topic " + std::to_string(topic_) + " partition " + std::to_string(partition_) +
                             ": in the end " + std::to_string(end.committed) + " is committed of " +
                             std::to_string(end.log_end));
    }

    const Run& run_;
    const KnownRecords& records_;
    std::uint8_t topic_;
    std::uint8_t partition_;
    Verdict& verdict_;
    std::map<std::uint32_t, Tenure> tenures_;  // by generation
    std::vector<std::pair<std::uint64_t, std::uint64_t>> covered_;
    std::set<std::uint32_t> disturbed_;  // lives
    std::set<std::uint32_t> left_;
};

}  // namespace

void check_groups(const Run& run, const KnownRecords& records, Verdict& verdict) {
    for (std::uint8_t topic = 0; topic < run.topics.size(); ++topic) {
        for (std::uint8_t partition = 0; partition < run.topics[topic].partitions; ++partition) {
            if (run.topics[topic].use == TopicUse::stream)
                GroupCheck(run, records, topic, partition, verdict).check();
        }
    }
}

}  // namespace ringmain::nemesis
