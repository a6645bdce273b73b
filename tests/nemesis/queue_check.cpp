// Queues: every record is finished once, by the ack of one worker or by one letter, and comes again only for a reason.
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>

#include "check.hpp"
#include "ringmain/queue.hpp"

namespace ringmain::nemesis {

namespace {

using Kind = Event::Kind;

/// A worker's time with a record.
struct Holding {
    std::uint64_t offset = 0;
    std::uint32_t generation = 0;
    std::uint64_t asked = 0;  // when acquire was called
    std::uint64_t got = 0;    // when it came back
    std::optional<Operation> operation{};
    std::optional<Settled> answer{};  // nothing: nobody heard
    std::uint64_t settling = 0;       // when
    std::uint64_t settled = kNowhere;
    std::uint64_t gone = kNowhere;  // when its worker was killed, or left
    Place place;
    Place last;

    [[nodiscard]] bool is_acked() const { return operation == Operation::ack && answer == Settled::done; }
    [[nodiscard]] bool is_maybe_acked() const { return operation == Operation::ack && !answer; }
    /// It gave the record up, or may have.
    [[nodiscard]] bool gave_up() const {
        return operation && *operation != Operation::ack &&
               (!answer || *answer == Settled::done || *answer == Settled::letters_full);
    }
};

struct Reset {
    std::uint64_t target;
    std::uint64_t end;
    std::uint32_t generation;  // of the queue from then on
    std::uint64_t begun;       // when, at the earliest
};

class QueueCheck {
public:
    QueueCheck(const Run& run, const KnownRecords& records, std::uint8_t topic, std::uint8_t partition,
               Verdict& verdict)
        : run_(run), records_(records), topic_(topic), partition_(partition), verdict_(verdict) {}

    void check() {
        collect_fates();
        for (std::uint32_t h = 0; h < run_.histories.size(); ++h)
            take(h);
        std::sort(holdings_.begin(), holdings_.end(), [](const Holding& a, const Holding& b) {
            return std::tie(a.offset, a.generation, a.got) < std::tie(b.offset, b.generation, b.got);
        });
        for (std::size_t from = 0; from < holdings_.size();) {
            std::size_t to = from;
            while (to < holdings_.size() && holdings_[to].offset == holdings_[from].offset &&
                   holdings_[to].generation == holdings_[from].generation)
                ++to;
            check_record(std::span(holdings_).subspan(from, to - from));
            from = to;
        }
        check_complete();
    }

private:
    [[nodiscard]] std::string where(std::uint64_t offset) const {
        return "topic " + std::to_string(topic_) + " partition " + std::to_string(partition_) + " offset " +
               std::to_string(offset);
    }

    /// When workers were killed or left.
    void collect_fates() {
        for (const History& history : run_.histories) {
            for (const Event& event : history.events) {
                if (history.role == Role::nemesis && (event.kind == Kind::killed || event.kind == Kind::exited))
                    gone_.emplace(event.aux, event.time);
                if (history.role == Role::worker && event.kind == Kind::left)
                    gone_[history.life] = event.time;
            }
        }
    }

    void take(std::uint32_t h) {
        const History& history = run_.histories[h];
        std::map<std::pair<std::uint64_t, std::uint32_t>, std::size_t> held;  // the last time it had the record
        std::uint64_t asked = 0;
        std::uint64_t begun = 0;  // before it the admin did something else
        for (std::uint32_t e = 0; e < history.events.size(); ++e) {
            const Event& event = history.events[e];
            if (event.kind == Kind::acquiring)
                asked = event.time;
            if (event.kind != Kind::reset)
                begun = event.time;
            if (event.topic != topic_ || event.partition != partition_)
                continue;
            const Place place{h, e};
            if (event.kind == Kind::acquired && history.role == Role::worker) {
                const auto gone = gone_.find(history.life);
                Holding holding{.offset = event.offset,
                                .generation = event.aux,
                                .asked = asked,
                                .got = event.time,
                                .place = place,
                                .last = place};
                holding.gone = gone == gone_.end() ? kNowhere : gone->second;
                held[{event.offset, event.aux}] = holdings_.size();
                holdings_.push_back(holding);
            } else if (event.kind == Kind::settling || event.kind == Kind::settled) {
                const auto found = held.find({event.offset, event.aux});
                if (found == held.end())
                    verdict_.say(Fault::two_acks, where(event.offset) + " was settled by one who never had it",
                                 {place});
                else
                    settle(holdings_[found->second], event, place);
            } else if (event.kind == Kind::letter) {
                letters_[event.offset].push_back(place);
                check_letter(event, place);
            } else if (event.kind == Kind::reset) {
                resets_.push_back({event.offset, event.id, event.aux, begun});
            } else if (event.kind == Kind::gap && history.role == Role::worker) {
                ++verdict_.gaps;
                if (run_.topics[topic_].gated)
                    verdict_.say(Fault::lost, where(event.offset) + " was lost although the queue gates", {place});
            }
        }
    }

    void settle(Holding& holding, const Event& event, Place place) {
        holding.last = place;
        if (event.kind == Kind::settling) {
            holding.operation = static_cast<Operation>(event.extra);
            holding.settling = event.time;
            holding.answer.reset();
            return;
        }
        holding.answer = static_cast<Settled>(event.id);
        holding.settled = event.time;
        if (holding.operation == Operation::ack && holding.answer != Settled::done)
            ++verdict_.late_acks_refused;
    }

    void check_letter(const Event& event, Place place) {
        ++verdict_.letters;
        const Known* const known = event.id == 0 ? nullptr : records_.find(event.id);
        if (event.id != 0 && (known == nullptr || known->offset != event.offset || known->partition != partition_ ||
                              known->topic != topic_))
            verdict_.say(Fault::phantom, "a letter of " + where(event.offset) + ", and no such record was there",
                         {place});
    }

    /// All holdings of a record within one generation, by time.
    void check_record(std::span<const Holding> all) {
        const Holding* acked = nullptr;
        for (std::size_t i = 0; i < all.size(); ++i) {
            const Holding& one = all[i];
            if (one.is_acked()) {
                if (acked != nullptr)
                    verdict_.say(Fault::two_acks, where(one.offset) + " was acked twice", {acked->last, one.last});
                acked = &one;
                check_late(all, one);
            }
            if (i > 0)
                check_again(all[i - 1], one);
        }
        if (acked == nullptr)
            return;
        for (const Holding& one : all) {
            if (one.asked > acked->settled)
                verdict_.say(Fault::repeated, where(one.offset) + " was handed out after it was acked",
                             {acked->last, one.place});
        }
    }

    /// Somebody had it between its holder's acquire and its ack.
    void check_late(std::span<const Holding> all, const Holding& acked) {
        for (const Holding& other : all) {
            if (other.asked > acked.got && other.got < acked.settling)
                verdict_.say(Fault::late_ack, where(acked.offset) + " was acked by one from whom it had been taken",
                             {acked.place, other.place, acked.last});
        }
    }

    void check_again(const Holding& before, const Holding& after) {
        ++verdict_.redelivered;
        // Whose acquire came back first need not have had the record first, unless the other one was called later.
        const bool either = after.asked <= before.got;
        if (!may_follow(before, after) && !(either && may_follow(after, before)))
            verdict_.say(Fault::repeated, where(after.offset) + " was handed out again while somebody held it",
                         {before.last, after.place});
    }

    /// Its holder gave it up, or was gone, or its lock was over; or the queue was reset, which takes it from its
    /// holder: one that has been inside of acquire since before may still take it, for an answer that says so.
    [[nodiscard]] bool may_follow(const Holding& before, const Holding& after) const {
        constexpr std::uint64_t kTicks = 20'000'000;  // locks end by a coarse clock
        return before.gave_up() || before.gone <= after.got || after.got + kTicks >= before.asked + run_.lock_ns ||
               was_reset(after.generation, after.got);
    }

    [[nodiscard]] bool was_reset(std::uint32_t generation, std::uint64_t time) const {
        return std::any_of(resets_.begin(), resets_.end(),
                           [&](const Reset& reset) { return reset.generation > generation && reset.begun <= time; });
    }

    void check_complete() {
        std::map<std::uint64_t, int> acked;
        std::map<std::uint64_t, int> maybe;
        for (const Holding& one : holdings_) {
            acked[one.offset] += one.is_acked() ? 1 : 0;
            maybe[one.offset] += one.is_maybe_acked() ? 1 : 0;
        }
        const PartitionEnd& end = run_.ends[topic_][partition_];
        if (end.committed != end.log_end)
            verdict_.say(
                end.committed > end.log_end ? Fault::commit_beyond_end : Fault::lost,
                where(end.committed) + " is where the queue ends, and the log at " + std::to_string(end.log_end));
        for (const Known* one : records_.in(topic_, partition_)) {
            const std::uint64_t offset = one->offset;
            const auto letters = letters_.find(offset);
            const std::size_t written = letters == letters_.end() ? 0 : letters->second.size();
            const std::size_t times = 1 + resets_over(offset);
            if (written > times)
                verdict_.say(Fault::duplicated, where(offset) + " has " + std::to_string(written) + " letters",
                             letters->second);
            else if (written + static_cast<std::size_t>(acked[offset]) > times)
                verdict_.say(Fault::two_acks, where(offset) + " was acked, and has a letter",
                             letters == letters_.end() ? std::vector<Place>{one->answered} : letters->second);
            if (!one->is_acknowledged() || written + static_cast<std::size_t>(acked[offset] + maybe[offset]) > 0)
                continue;
            if (!run_.topics[topic_].gated && offset < end.log_start)
                ++verdict_.reported_lost;
            else
                verdict_.say(Fault::lost, where(offset) + " was never finished by anybody", {one->sent, one->answered});
        }
    }

    [[nodiscard]] std::size_t resets_over(std::uint64_t offset) const {
        return static_cast<std::size_t>(std::count_if(resets_.begin(), resets_.end(), [&](const Reset& reset) {
            return reset.target <= offset && offset < reset.end;
        }));
    }

    const Run& run_;
    const KnownRecords& records_;
    std::uint8_t topic_;
    std::uint8_t partition_;
    Verdict& verdict_;
    std::vector<Holding> holdings_;
    std::unordered_map<std::uint64_t, std::vector<Place>> letters_;
    std::vector<Reset> resets_;
    std::unordered_map<std::uint32_t, std::uint64_t> gone_;
};

}  // namespace

void check_queues(const Run& run, const KnownRecords& records, Verdict& verdict) {
    for (std::uint8_t topic = 0; topic < run.topics.size(); ++topic) {
        const TopicRule& rule = run.topics[topic];
        for (std::uint8_t partition = 0; partition < rule.partitions; ++partition) {
            if (rule.use == TopicUse::queue)
                QueueCheck(run, records, topic, partition, verdict).check();
        }
    }
}

}  // namespace ringmain::nemesis
