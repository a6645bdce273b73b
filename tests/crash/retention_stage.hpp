// A partition with retention in shared memory: a keeper that is the victim, the keeper that follows it, producers and gates.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "crash/shared_bytes.hpp"
#include "partition_log/publisher.hpp"
#include "retention/retention.hpp"
#include "support/plain_log.hpp"

namespace ringmain::crash {

using RetentionHost = platform::HostMemory;

/// Copies share the partition's memory and have everything else for themselves.
struct RetentionStage {
    using Keeper = retention::PartitionRetention<RetentionHost>;

    static constexpr std::uint64_t kStepNs = 10'000'000;
    static constexpr std::uint64_t kSecond = 1'000'000'000;
    static constexpr std::uint64_t kRecordBytes = 10;
    static constexpr std::uint64_t kLimitRecords = 20;
    static constexpr std::uint64_t kGateAt = 10;

    RetentionStage(std::byte* base, bool block, const Retention& limits);
    [[nodiscard]] static test::PlainShape shape(bool block) noexcept;
    [[nodiscard]] static std::size_t bytes(bool block) noexcept;

    [[nodiscard]] std::uint64_t start() const noexcept { return log.control->log_start.load(std::memory_order_acquire); }
    [[nodiscard]] std::uint64_t end() const noexcept { return log.control->log_end.load(std::memory_order_acquire); }
    void publish(int count);
    /// A gate at an offset, or where the floor is already. Returns from where it holds.
    std::uint64_t hold_gate(std::uint64_t offset);
    void drop_gate();
    void pass(std::uint64_t ns) noexcept { now.now_ns += ns; }
    retention::Expired step(Keeper& keeper) const {
        return keeper.step([this] { return limits; }, now, retention::kCellsPerStep);
    }
    /// The victim's next step, before it is one.
    void step_before() { (void)step(victim); }

    partition_log::LogMemory<RetentionHost> log;
    std::atomic<std::uint32_t>* done;
    Retention limits;
    retention::Moment now{5 * kSecond, 7};
    Keeper victim;
    partition_log::SharedPublisher<RetentionHost> producer;
    std::vector<std::uint64_t> appended_ns;  // by offset
    std::optional<std::uint32_t> gate;
    std::uint64_t gate_from = 0;
};

struct RetentionScenario {
    std::string name;
    bool block = false;
    Retention limits;
    std::function<void(RetentionStage&)> prepare;
    std::function<void(RetentionStage&)> operation;
    /// The operation deletes up to here by itself, on request.
    std::uint64_t deletes_before = 0;
};

[[nodiscard]] std::vector<RetentionScenario> retention_scenarios();

}  // namespace ringmain::crash
