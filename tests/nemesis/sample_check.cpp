// Committed offsets as somebody sees them who looks now and then, of groups and of queues.
#include <map>
#include <set>
#include <utility>

#include "check.hpp"

namespace ringmain::nemesis {

namespace {

using Kind = Event::Kind;
using Partition = std::pair<std::uint8_t, std::uint8_t>;

}  // namespace

void check_samples(const Run& run, Verdict& verdict) {
    std::map<Partition, std::set<std::uint32_t>> resets;  // generations that a reset began
    for (const History& history : run.histories) {
        for (const Event& event : history.events) {
            if (event.kind == Kind::reset)
                resets[{event.topic, event.partition}].insert(event.aux);
        }
    }
    for (std::uint32_t h = 0; h < run.histories.size(); ++h) {
        std::map<Partition, Place> last;
        for (std::uint32_t e = 0; e < run.histories[h].events.size(); ++e) {
            const Event& event = run.histories[h].events[e];
            if (event.kind != Kind::sampled)
                continue;
            if (event.offset > event.id)
                verdict.say(Fault::commit_beyond_end, "an onlooker saw more committed than there is", {{h, e}});
            const Partition partition{event.topic, event.partition};
            const auto [at, first] = last.emplace(partition, Place{h, e});
            const Event& before = run.histories[h].events[at->second.event];
            const auto reset = resets[partition].upper_bound(before.aux);
            if (!first && event.offset < before.offset && (reset == resets[partition].end() || *reset > event.aux))
                verdict.say(Fault::commit_backwards, "an onlooker saw a commit go back without a reset",
                            {at->second, {h, e}});
            at->second = {h, e};
        }
    }
}

}  // namespace ringmain::nemesis
