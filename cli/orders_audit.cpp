// Tenures, repeats and orders, out of the journals of one group.
#include "orders_audit.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace ringmain::cli::orders {

namespace {

/// A handling and the tenure that it belongs to.
struct Handling {
    std::uint64_t event = 0;
    std::uint64_t tenure = 0;  // its tick
    std::uint64_t tick = 0;
    std::uint32_t member = 0;
};

bool same_group(std::uint32_t member, std::uint32_t group) noexcept { return kMembers[member].group == group; }

/// Walks through one member's journal: its tenures, and the order within each.
class JournalReader {
public:
    JournalReader(GroupAudit& audit, std::vector<Handling>& handlings, std::uint32_t member, std::uint64_t orders)
        : audit_(audit), handlings_(handlings), member_(member), last_steps_(orders) {}

    void read(std::span<const Entry> entries) {
        for (const Entry& entry : entries)
            take(entry);
        for (std::optional<Tenure>& tenure : now_)
            end(tenure);
    }

private:
    struct LastStep {
        std::uint64_t tenure = 0;
        std::uint8_t step = 0;
    };

    void take(const Entry& entry) {
        if (entry.partition >= kPartitions) {
            ++audit_.unknown;
            return;
        }
        std::optional<Tenure>& tenure = now_[entry.partition];
        switch (entry.kind) {
            case Entry::Kind::handled:
                handle(entry, tenure);
                break;
            case Entry::Kind::acquired:
                begin(entry, tenure);
                break;
            case Entry::Kind::given_up:
            case Entry::Kind::lost:
                if (tenure) {
                    tenure->given_up = entry.kind == Entry::Kind::given_up;
                    tenure->ended_ns = entry.time_ns;
                }
                end(tenure);
                break;
            case Entry::Kind::committed:
                if (tenure)
                    tenure->committed_to = std::max(tenure->committed_to, entry.offset);
                break;
            case Entry::Kind::fenced:
            case Entry::Kind::evicted:
                break;
        }
    }

    void begin(const Entry& entry, std::optional<Tenure>& tenure) {
        end(tenure);
        tenure.emplace();
        tenure->member = member_;
        tenure->partition = entry.partition;
        tenure->tick = entry.tick;
        tenure->time_ns = entry.time_ns;
        tenure->begin = tenure->handled_to = tenure->committed_to = entry.offset;
    }

    void handle(const Entry& entry, std::optional<Tenure>& tenure) {
        ++audit_.handled;
        if (!tenure || entry.order >= last_steps_.size() || entry.step == 0 || entry.step > kSteps.size()) {
            ++audit_.unknown;
            return;
        }
        LastStep& last = last_steps_[entry.order];
        const bool seen = last.tenure == tenure->tick;
        const bool in_order = entry.offset >= tenure->handled_to && (!seen || entry.step == last.step + 1);
        if (!in_order)
            ++audit_.tenure_disorder;
        last = {tenure->tick, entry.step};
        tenure->handled_to = std::max(tenure->handled_to, entry.offset + 1);
        handlings_.push_back({entry.order * kSteps.size() + entry.step - 1, tenure->tick, entry.tick, member_});
    }

    void end(std::optional<Tenure>& tenure) {
        if (tenure)
            audit_.tenures.push_back(*tenure);
        tenure.reset();
    }

    GroupAudit& audit_;
    std::vector<Handling>& handlings_;
    std::uint32_t member_;
    std::vector<LastStep> last_steps_;  // by order
    std::array<std::optional<Tenure>, kPartitions> now_;
};

/// Of all handlings of an event one counts: the first of the latest tenure. The others are repeats.
void count_events(GroupAudit& audit, std::vector<Handling>& handlings, std::uint64_t orders) {
    std::sort(handlings.begin(), handlings.end(), [](const Handling& a, const Handling& b) {
        return std::tuple(a.event, b.tenure, a.tick) < std::tuple(b.event, a.tenure, b.tick);
    });
    std::vector<std::uint64_t> first_ticks(orders * kSteps.size());
    std::vector<bool> there(orders * kSteps.size());
    for (const Handling& handling : handlings) {
        if (there[handling.event]) {
            ++audit.repeats[handling.member];
            first_ticks[handling.event] = std::min(first_ticks[handling.event], handling.tick);
            continue;
        }
        there[handling.event] = true;
        first_ticks[handling.event] = handling.tick;
        ++audit.distinct;
    }
    audit.missing = there.size() - audit.distinct;
    for (std::uint64_t order = 0; order < orders; ++order) {
        bool whole = true;
        for (std::uint64_t step = 0; step < kSteps.size(); ++step) {
            const std::uint64_t event = order * kSteps.size() + step;
            whole = whole && there[event];
            if (step != 0 && there[event] && there[event - 1] && first_ticks[event] < first_ticks[event - 1])
                ++audit.first_disorder;
        }
        if (whole)
            ++audit.orders;
    }
}

/// Each tenure begins where the one before ended: at the end of what was given up, else not before what was committed.
void follow_handovers(GroupAudit& audit, const Moments& moments) {
    std::sort(audit.tenures.begin(), audit.tenures.end(),
              [](const Tenure& a, const Tenure& b) { return a.tick < b.tick; });
    std::array<const Tenure*, kPartitions> before{};  // that handled something
    std::array<bool, kPartitions> owned{};
    for (const Tenure& tenure : audit.tenures) {
        if (owned[tenure.partition] && tenure.time_ns >= moments.started_ns)
            ++audit.handovers;
        owned[tenure.partition] = true;
        if (const Tenure* const last = before[tenure.partition]; last != nullptr) {
            const std::uint64_t least = last->given_up ? last->handled_to : last->committed_to;
            if (tenure.begin < least)
                ++audit.went_behind;
        }
        if (tenure.handled_to != tenure.begin)
            before[tenure.partition] = &tenure;
    }
}

void find_pauses(GroupAudit& audit, std::uint32_t group, const Journals& journals) {
    std::array<std::vector<std::int64_t>, kPartitions> times;
    for (std::uint32_t member = 0; member < kMembers.size(); ++member) {
        if (!same_group(member, group))
            continue;
        for (const Entry& entry : journals[member]) {
            if (entry.kind == Entry::Kind::handled && entry.partition < kPartitions)
                times[entry.partition].push_back(entry.time_ns);
        }
    }
    for (std::uint32_t partition = 0; partition < kPartitions; ++partition) {
        std::vector<std::int64_t>& all = times[partition];
        std::sort(all.begin(), all.end());
        for (std::size_t i = 1; i < all.size(); ++i) {
            const auto pause_ns = static_cast<std::uint64_t>(all[i] - all[i - 1]);
            if (pause_ns <= audit.longest_pause_ns)
                continue;
            audit.longest_pause_ns = pause_ns;
            audit.paused_partition = partition;
        }
    }
}

bool owned_at(const Tenure& tenure, std::uint32_t member, std::int64_t moment_ns) noexcept {
    return tenure.member == member && tenure.time_ns <= moment_ns &&
           (tenure.ended_ns == 0 || tenure.ended_ns > moment_ns);
}

}  // namespace

GroupAudit audit(std::uint32_t group, const Journals& journals, std::uint64_t orders, const Moments& moments) {
    GroupAudit audit;
    std::vector<Handling> handlings;
    for (std::uint32_t member = 0; member < kMembers.size(); ++member) {
        if (same_group(member, group))
            JournalReader(audit, handlings, member, orders).read(journals[member]);
    }
    count_events(audit, handlings, orders);
    follow_handovers(audit, moments);
    find_pauses(audit, group, journals);
    return audit;
}

Cost cost_of(const GroupAudit& audit, const Journals& journals, std::uint32_t member, std::int64_t signal_ns) {
    std::map<std::uint32_t, std::optional<std::int64_t>> again;  // by partition
    for (const Tenure& tenure : audit.tenures) {
        if (owned_at(tenure, member, signal_ns))
            again.emplace(tenure.partition, std::nullopt);
    }
    for (std::uint32_t other = 0; other < kMembers.size(); ++other) {
        if (other == member || !same_group(other, kMembers[member].group))
            continue;
        for (const Entry& entry : journals[other]) {
            const auto found = again.find(entry.partition);
            if (entry.kind != Entry::Kind::handled || entry.time_ns < signal_ns || found == again.end())
                continue;
            found->second = std::min(found->second.value_or(entry.time_ns), entry.time_ns);
        }
    }
    Cost cost;
    cost.partitions = static_cast<std::uint32_t>(again.size());
    for (const auto& [partition, time_ns] : again) {
        if (!time_ns)
            return {cost.partitions, cost.first_ns, std::nullopt};
        const auto passed_ns = static_cast<std::uint64_t>(*time_ns - signal_ns);
        cost.first_ns = std::min(cost.first_ns.value_or(passed_ns), passed_ns);
        cost.all_ns = std::max(cost.all_ns.value_or(0), passed_ns);
    }
    return cost;
}

std::uint64_t count_entries(std::span<const Entry> entries, Entry::Kind kind, std::int64_t from_ns) noexcept {
    return static_cast<std::uint64_t>(std::count_if(entries.begin(), entries.end(), [&](const Entry& entry) {
        return entry.kind == kind && entry.time_ns >= from_ns;
    }));
}

std::optional<std::int64_t> first_entry_ns(std::span<const Entry> entries, Entry::Kind kind,
                                           std::int64_t from_ns) noexcept {
    const auto found = std::find_if(entries.begin(), entries.end(),
                                    [&](const Entry& entry) { return entry.kind == kind && entry.time_ns >= from_ns; });
    return found == entries.end() ? std::nullopt : std::optional(found->time_ns);
}

}  // namespace ringmain::cli::orders
