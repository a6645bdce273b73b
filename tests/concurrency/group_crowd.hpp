// Members of one group, each in a thread, with an operator, a keeper and whoever evicts wrongly; and what they did.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "concurrency/lives.hpp"
#include "concurrency/mortal_memory.hpp"
#include "concurrency/seed.hpp"
#include "layout/readers.hpp"
#include "support/plain_groups.hpp"

namespace ringmain::test {

/// What happened to a partition in one generation, as one thread knows it.
struct TenureHistory {
    std::uint32_t partition = 0;
    std::uint32_t generation = 0;
    bool reset = false;                 // an operator's: nobody owned it
    std::uint64_t start = 0;            // where the owner began, or the target
    std::uint64_t handed_out = 0;       // up to here
    std::uint64_t committed = 0;        // acknowledged last
    std::vector<std::uint64_t> maybe{}; // tried since then, and not known
};

/// Compares the tenures of all threads. Every line is a broken promise.
[[nodiscard]] std::vector<std::string> judge_tenures(const std::vector<TenureHistory>& all,
                                                     const std::array<std::uint32_t, 4>& last_generation);

class GroupCrowd {
public:
    using M = MortalMemory;
    static constexpr std::uint32_t kPartitions = 4;
    static constexpr layout::GroupsGeometry kShape{kPartitions, 2, 8, 0};

    /// `first_offset`: of all partitions; the group begins there.
    GroupCrowd(std::string name, bool gating, std::uint64_t first_offset = 0);

    unsigned members = 4;
    unsigned resets = 0;        // by the operator, in all
    unsigned deaths = 0;        // of a member, in a thousand rounds
    bool wrong_evictions = false;
    std::uint32_t first_generation = 0;

    void run(std::uint64_t rounds_each);

    [[nodiscard]] const std::vector<std::string>& faults() const noexcept { return faults_; }
    [[nodiscard]] std::uint64_t commits() const noexcept { return commits_.load(std::memory_order_acquire); }

    [[nodiscard]] std::uint64_t returns() const noexcept { return gates_.load(std::memory_order_acquire); }

private:
    void be_member(std::uint32_t index, std::uint64_t rounds);
    void check_gate(PollingMember<M>& member, const group_table::CommitItem& commit);
    void be_operator();
    void be_keeper();
    void be_mover();
    void end();
    void fault(const std::string& what);

    std::string name_;
    std::uint64_t seed_;
    bool gating_;
    std::uint64_t first_offset_;
    PlainGroups<M> plain_{kShape};
    PageMemory readers_{sizeof(layout::ReaderBlock<platform::HostMemory>)};
    std::unique_ptr<Lives> lives_ = std::make_unique<Lives>();
    group_table::GroupRef group_;
    std::atomic<bool> done_{false};
    std::atomic<std::uint64_t> commits_{0};
    std::atomic<std::uint64_t> gates_{0};   // that came back after the group was let go
    std::atomic<std::uint64_t> passed_{0};  // gates that log_start has passed
    std::vector<std::vector<TenureHistory>> histories_;
    std::vector<std::string> faults_;
};

}  // namespace ringmain::test
