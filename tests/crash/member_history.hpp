// What processes that are members of a group did: a log in memory that they share, which survives their deaths, and the
// judgement over it.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace ringmain::test {

struct MemberEvent {
    enum class Kind : std::uint64_t {
        none,       // its process died before it was written
        assigned,   // value: the position; generation
        delivered,  // value: the first offset, last: the last, count records
        trying,     // to commit value
        committed,  // value
        refused,    // value: what was tried
        revoked,    // value: the position, which the hand-over may commit
        lost,
        left,       // by close; at_least_once
        reset,      // by the operator: value; generation
        disturbed,  // by the operator: the process was stopped or killed, or ends without close
    };
    Kind kind = Kind::none;
    std::uint32_t process = 0;
    std::uint32_t partition = 0;
    std::uint32_t generation = 0;
    std::uint64_t value = 0;
    std::uint64_t last = 0;
    std::uint64_t count = 0;
};

class MemberHistory {
public:
    MemberHistory();
    MemberHistory(const MemberHistory&) = delete;
    MemberHistory& operator=(const MemberHistory&) = delete;
    ~MemberHistory();

    void note(const MemberEvent& event) noexcept;
    [[nodiscard]] bool nearly_full() const noexcept;
    [[nodiscard]] std::vector<MemberEvent> events() const;

    /// Flags that the processes look at.
    std::atomic<bool>& leave(std::uint32_t process) noexcept;

private:
    struct Memory;
    Memory* memory_;
};

/// Every line is a broken promise. `records`: the offsets that hold a record, by partition, at the end.
[[nodiscard]] std::vector<std::string> judge_members(const std::vector<MemberEvent>& events,
                                                     std::span<const std::set<std::uint64_t>> records,
                                                     std::span<const std::uint64_t> committed);

}  // namespace ringmain::test
