// A queue on one partition and its workers, each in a thread, who answer, forget, are too late and die; and what came of each record.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "concurrency/lives.hpp"
#include "concurrency/mortal_memory.hpp"
#include "support/plain_work.hpp"

namespace ringmain::test {

class WorkCrowd {
public:
    using M = MortalMemory;

    WorkCrowd(std::string name, const WorkShape& shape);

    unsigned deaths = 0;     // of a worker, in a thousand calls
    unsigned retention = 0;  // deletes the oldest records, so often in a thousand publishes
    bool forgetful = true;   // locks run out, records are rejected and failed

    /// Until everything that was published is finished.
    void run(std::uint64_t records);

    [[nodiscard]] const std::vector<std::string>& faults() const noexcept { return faults_; }
    [[nodiscard]] std::uint64_t acked() const noexcept { return acked_total_; }
    [[nodiscard]] std::uint64_t dead_lettered() const noexcept { return dead_total_; }
    [[nodiscard]] std::uint64_t lost() const noexcept { return lost_total_; }
    [[nodiscard]] std::uint64_t ended_lives() const noexcept { return ended_.load(std::memory_order_acquire); }
    /// The most that all workers held at once, by their own account.
    [[nodiscard]] std::uint64_t in_hand_max() const noexcept { return in_hand_max_.load(std::memory_order_acquire); }

private:
    struct Fates {
        std::atomic<std::uint32_t> acked;  // answers that said so
        std::atomic<std::uint32_t> maybe;  // acks whose answer was never heard
    };
    class Worker;

    [[nodiscard]] std::uint64_t first() const noexcept { return work_.shape.log.first_offset; }

    void be_producer(std::uint64_t records);
    void judge();
    void fault(const std::string& what);

    std::string name_;
    std::uint64_t seed_;
    PlainWork<M> work_;
    std::unique_ptr<Lives> lives_ = std::make_unique<Lives>();
    std::vector<Fates> fates_;  // by record
    std::atomic<bool> published_{false};
    std::atomic<std::uint64_t> ended_{0};
    std::atomic<std::uint64_t> in_hand_{0};
    std::atomic<std::uint64_t> in_hand_max_{0};
    std::atomic<std::uint64_t> lost_told_{0};
    std::uint64_t acked_total_ = 0;
    std::uint64_t dead_total_ = 0;
    std::uint64_t lost_total_ = 0;
    std::vector<std::string> faults_;
};

}  // namespace ringmain::test
