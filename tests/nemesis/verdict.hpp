// What is wrong with a run: each fault with the events that prove it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "event.hpp"

namespace ringmain::nemesis {

enum class Fault : std::uint8_t {
    lost,               // acknowledged, and neither delivered nor told to be lost
    duplicated,         // one record at two offsets, or two records at one
    phantom,            // read, and never sent, or refused
    reordered,          // against a producer's order, real time, or a reader's own direction
    torn,               // bytes that contradict each other
    unreported_gap,     // a reader passed records without a word
    commit_backwards,   // a committed offset went back without a reset
    commit_beyond_end,  // or beyond what there is, or was handed out
    handed_over_wrong,  // a tenure does not begin where the one before ended, or two members share one
    repeated,           // delivered again although its holder was undisturbed and finished
    two_acks,           // two workers, or a worker and a letter, finished one record
    late_ack,           // an ack was accepted from somebody who had lost the record
    misnamed,           // a named producer was told a wrong last sequence
    failed,             // an answer or an exit that never may be
    count_
};
const char* to_string(Fault fault) noexcept;

/// An event: which history, and which line of it.
struct Place {
    std::uint32_t history = 0;
    std::uint32_t event = 0;
};

struct Violation {
    Fault fault = Fault::failed;
    std::string what;
    std::vector<Place> places;
};

/// What the checkers find. Keeps the first few of each kind and counts all.
class Verdict {
public:
    void say(Fault fault, std::string what, std::vector<Place> places = {});

    [[nodiscard]] const std::vector<Violation>& violations() const noexcept { return violations_; }
    [[nodiscard]] std::uint64_t count(Fault fault) const noexcept { return counts_[static_cast<std::size_t>(fault)]; }
    [[nodiscard]] bool good() const noexcept { return violations_.empty(); }

    // Figures that are no faults.
    std::uint64_t records = 0;  // that were tried
    std::uint64_t acknowledged = 0;
    std::uint64_t reported_lost = 0;  // acknowledged, and told to the auditor to be lost
    std::uint64_t skipped = 0;        // offsets that auditors stepped over: closed tickets
    std::uint64_t gaps = 0;           // reported to readers and members
    std::uint64_t tenures = 0;
    std::uint64_t redelivered = 0;  // by groups and queues, with a reason
    std::uint64_t letters = 0;
    std::uint64_t late_acks_refused = 0;

private:
    std::array<std::uint64_t, static_cast<std::size_t>(Fault::count_)> counts_{};
    std::vector<Violation> violations_;
};

/// The first violation in full: its events, whatever else is known of the records they name, and what the processes
/// did last before them.
[[nodiscard]] std::string report(const Verdict& verdict, const std::vector<History>& histories);

}  // namespace ringmain::nemesis
