// The groups of one topic in shared memory, a victim that does something to them, and the others.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "crash/shared_bytes.hpp"
#include "support/plain_groups.hpp"

namespace ringmain::crash {

using Host = platform::HostMemory;
using GroupMember = test::PollingMember<Host>;

/// What a victim tells about itself; lies in shared memory.
struct GroupReport {
    std::atomic<std::uint32_t> done;
    std::array<bool, 4> committed;  // its commit of the partition was acknowledged
};

/// Copies share the memory and have everything else for themselves.
struct GroupStage {
    static constexpr std::uint32_t kPartitions = 4;
    static constexpr std::uint64_t kRecords = 40;  // in every partition, when the operation begins
    static constexpr std::uint64_t kCommitted = 3; // by the victim before, if it owns them
    static constexpr std::uint64_t kHandedOut = 8; // by the victim, beyond what is committed

    GroupStage(std::byte* base, std::uint64_t first_offset);
    [[nodiscard]] static std::size_t bytes() noexcept;
    [[nodiscard]] test::DeadClients is_dead() const noexcept { return {&dead}; }
    [[nodiscard]] group_table::PartitionWord word(std::uint32_t partition) const noexcept {
        return view.groups.word(group.slot, partition);
    }
    /// What is committed, in records from the first one on.
    [[nodiscard]] std::uint64_t committed(std::uint32_t partition) const noexcept { return word(partition).committed - first; }
    [[nodiscard]] group_table::SetWord set() const noexcept { return view.groups.set(group.slot); }
    group_table::Found create(std::uint64_t client, std::string_view name, bool gating) const;
    /// To so many records behind the first one.
    void reset_all(std::uint64_t records) const;

    std::uint64_t first;  // offset of every partition
    test::GroupsView<Host> view;
    GroupReport* report;
    group_table::GroupRef group;
    GroupMember me;
    GroupMember victim;
    std::vector<std::uint64_t> dead;
};

struct GroupScenario {
    std::string name;
    std::function<void(GroupStage&)> prepare;
    std::function<void(GroupStage&)> operation;
    /// What may be found committed in a partition that the others take over, beside what was committed before: records.
    std::uint64_t commits = 0;
    /// The operation sets positions from outside: the same plan is run again by the others.
    bool resets = false;
    bool deletes = false;
    /// The victim's static name is in use by another instance afterwards.
    bool gating = false;
};

[[nodiscard]] std::vector<GroupScenario> group_scenarios();

}  // namespace ringmain::crash
