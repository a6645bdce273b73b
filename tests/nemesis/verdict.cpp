// Collecting faults, and telling the first one in full.
#include "verdict.hpp"

#include <algorithm>
#include <set>
#include <sstream>

namespace ringmain::nemesis {

namespace {

constexpr std::uint64_t kKeptOfEach = 3;
constexpr std::uint32_t kTail = 8;
constexpr std::size_t kMentionsMax = 40;

std::string text(const History& history, std::uint32_t event) {
    return std::string(to_string(history.role)) + " " + std::to_string(history.index) + " life " +
           std::to_string(history.life) + " #" + std::to_string(event) + ": " + to_string(history.events[event]);
}

// What was noted of the same record or the same offset anywhere, in order of time.
void tell_mentions(std::ostream& out, const Event& wanted, const std::vector<History>& histories) {
    std::vector<std::pair<std::uint64_t, std::string>> found;
    for (const History& history : histories) {
        for (std::uint32_t i = 0; i < history.events.size(); ++i) {
            const Event& event = history.events[i];
            const bool record = life_of(wanted.id) != 0 && event.id == wanted.id;
            const bool offset = event.offset == wanted.offset && event.topic == wanted.topic &&
                                event.partition == wanted.partition && life_of(wanted.id) == 0 &&
                                event.kind != Event::Kind::sampled;
            if ((record || offset) && found.size() < kMentionsMax)
                found.emplace_back(event.time, text(history, i));
        }
    }
    std::sort(found.begin(), found.end());
    for (const auto& [time, line] : found)
        out << "    " << line << '\n';
}

}  // namespace

const char* to_string(Fault fault) noexcept {
    constexpr std::array kNames{"lost",
                                "duplicated",
                                "phantom",
                                "reordered",
                                "torn",
                                "unreported gap",
                                "commit backwards",
                                "commit beyond end",
                                "handed over wrong",
                                "repeated",
                                "two acks",
                                "late ack",
                                "misnamed",
                                "failed"};
    return kNames.at(static_cast<std::size_t>(fault));
}

void Verdict::say(Fault fault, std::string what, std::vector<Place> places) {
    if (++counts_[static_cast<std::size_t>(fault)] <= kKeptOfEach)
        violations_.push_back({fault, std::move(what), std::move(places)});
}

std::string report(const Verdict& verdict, const std::vector<History>& histories) {
    if (verdict.good())
        return {};
    std::ostringstream out;
    for (const Violation& one : verdict.violations())
        out << to_string(one.fault) << ": " << one.what << '\n';
    const Violation& first = verdict.violations().front();
    out << "the first in full, " << to_string(first.fault) << ": " << first.what << '\n';
    std::set<std::uint32_t> told;
    for (const Place& place : first.places) {
        const History& history = histories.at(place.history);
        out << "  " << text(history, place.event) << '\n';
        if (history.role != Role::nemesis) {
            out << "   of this record, everywhere:\n";
            tell_mentions(out, history.events[place.event], histories);
        }
        if (!told.insert(place.history).second)
            continue;
        out << "   before and after it, the same process:\n";
        const auto size = static_cast<std::uint32_t>(history.events.size());
        for (std::uint32_t i = place.event - std::min(place.event, kTail); i < std::min(place.event + kTail, size); ++i)
            out << "    " << text(history, i) << '\n';
        out << "   the nemesis, of this life:\n";
        for (const History& other : histories) {
            if (other.role != Role::nemesis)
                continue;
            for (std::uint32_t i = 0; i < other.events.size(); ++i) {
                if (other.events[i].aux == history.life)
                    out << "    " << text(other, i) << '\n';
            }
        }
    }
    return out.str();
}

}  // namespace ringmain::nemesis
