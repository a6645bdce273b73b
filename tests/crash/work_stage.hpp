// A queue on one partition in shared memory, a victim that does something to it, and the others.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "crash/shared_bytes.hpp"
#include "support/plain_work.hpp"

namespace ringmain::crash {

using Host = platform::HostMemory;
using QueueWorkerActor = test::PlainWorker<Host>;

/// What the victim holds, and what it tells about itself; lies in shared memory.
struct WorkReport {
    std::atomic<std::uint32_t> done;
    std::atomic<std::uint64_t> acking;  // offset + 1, when it begins to
    std::atomic<std::uint64_t> acked;   // offset + 1, when it was told so
    std::uint32_t held_count;
    std::array<test::HeldRecord, 16> held;
    std::uint64_t lost;
};

/// Clients: the victim's, that of `me`, and those of workers that live and do nothing.
inline constexpr std::uint64_t kVictim = test::kClientA;
inline constexpr std::uint64_t kMe = test::kClientB;
inline constexpr std::uint64_t kHeir = test::kClientC;
inline constexpr std::uint32_t kVictimSlot = 0;
inline constexpr std::uint32_t kMySlot = 1;
inline constexpr std::uint32_t kOtherSlot = 2;
inline constexpr std::uint32_t kFinisherSlot = 3;

/// Copies share the memory.
struct WorkStage {
    static constexpr std::uint64_t kRecords = 6;  // when the operation begins

    WorkStage(std::byte* base, const test::WorkShape& shape);
    [[nodiscard]] static std::size_t bytes(const test::WorkShape& shape) noexcept;

    /// The victim, as it is when the operation begins.
    [[nodiscard]] std::unique_ptr<QueueWorkerActor> victim() const { return std::make_unique<QueueWorkerActor>(view, kVictimSlot); }
    /// Of the n-th record from the first one on.
    [[nodiscard]] std::uint64_t offset(std::uint64_t n) const noexcept { return view.shape.log.first_offset + n; }
    [[nodiscard]] std::uint64_t lap(std::uint64_t n) const noexcept { return work_table::lap_of(offset(n), view.shape.window); }
    void hold(QueueWorkerActor& worker) const;
    void ack(QueueWorkerActor& worker, const test::HeldRecord& held) const;

    test::WorkView<Host> view;
    WorkReport* report;
};

/// What the others do before they go on with everything.
enum class Meanwhile : std::uint8_t {
    nothing,
    reset,      // the queue is set back to its beginning
    retention,  // the log is deleted up to the last record
};

struct WorkScenario {
    std::string name;
    std::function<void(WorkStage&)> prepare;
    std::function<void(WorkStage&, QueueWorkerActor&)> operation;
    test::WorkShape shape = {};
    Meanwhile meanwhile = Meanwhile::nothing;
};

/// On a log and dead letters that begin at these offsets.
[[nodiscard]] std::vector<WorkScenario> work_scenarios(std::uint64_t first_offset = 0, std::uint64_t first_letter = 0);

/// Who goes on when the victim is stopped or dead, and everything that is wrong then.
class WorkOthers {
public:
    WorkOthers(WorkStage& stage, Meanwhile meanwhile);

    /// Everything that there is gets finished, by one honest worker. `dead`: the victim is proven dead.
    void finish_all(bool dead);
    /// More laps, which leave nothing that the victim could rightly take.
    void go_on();
    /// What must not change when the victim wakes up.
    void remember();
    void compare();
    /// The victim is gone: its answers and handles against what the others know.
    void judge(bool woke_up);

    [[nodiscard]] const std::vector<std::string>& faults() const noexcept { return faults_; }

private:
    struct Image {
        std::uint64_t start = 0;
        std::uint64_t letters = 0;
        std::vector<std::uint64_t> words;
        friend bool operator==(const Image&, const Image&) = default;
    };
    void return_of_the_dead();
    void reset_or_delete();
    void judge_acks();
    void work(std::uint64_t until);
    void note_outcomes(std::uint64_t end);
    [[nodiscard]] Image image() const;
    [[nodiscard]] std::uint64_t letters() const;
    void require(bool holds, const std::string& what);

    WorkStage& stage_;
    std::unique_ptr<QueueWorkerActor> me_;
    std::uint64_t first_ = 0;
    std::map<std::uint64_t, work_table::DoneReason> before_;  // finished when the operation began
    std::map<std::uint64_t, std::uint32_t> acked_by_me_;
    std::map<std::uint64_t, work_table::DoneReason> outcomes_;
    Image image_;
    std::vector<std::string> faults_;
    Meanwhile meanwhile_;
};

}  // namespace ringmain::crash
