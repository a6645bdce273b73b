// One random sequence of calls of several workers of a queue, who may die in any of them, and the reference beside them.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "concurrency/mortal_memory.hpp"
#include "model/reference_work.hpp"
#include "support/plain_work.hpp"

namespace ringmain::test {

enum class WorkAction : std::uint8_t {
    publish,
    skip,
    acquire,
    ack,
    nack,
    release,
    reject,
    renew,
    pass,
    die,      // in the call that follows
    restart,  // of a worker: what it held is returned
    refuse,   // the dead-letter topic does, or does not any more
    retain,   // retention deletes the oldest
    reset,
    keep,     // as the keeper does
};

struct WorkOperation {
    WorkAction action = WorkAction::publish;
    std::uint32_t a = 0;
    std::uint32_t b = 0;
    std::uint32_t c = 0;
};
std::ostream& operator<<(std::ostream& out, const WorkOperation& operation);

struct WorkSequence {
    std::uint32_t shape = 0;
    std::uint64_t first_offset = 0;
    std::uint64_t now = 0;
    std::vector<WorkOperation> operations;
};

class WorkRun {
public:
    using M = MortalMemory;
    static constexpr std::uint32_t kWorkers = 3;

    explicit WorkRun(const WorkSequence& sequence);

    /// Throws std::runtime_error, saying how the two differ.
    void apply(const WorkOperation& operation);
    /// A lone worker finishes everything, and every record is exactly one of acked, dead (with one letter), skipped, lost.
    void finish();

private:
    struct Handle {
        std::uint32_t worker = 0;
        std::uint32_t generation = 0;
        HeldRecord held;
    };

    void publish(const WorkOperation& operation);
    void acquire(std::uint32_t worker, std::size_t count);
    void settle(const WorkOperation& operation);
    void restart(std::uint32_t worker);
    void reset(std::uint32_t where);
    void observe();
    void begin_worker(std::uint32_t worker);
    template <class Work>
    bool survives(std::uint32_t worker, const Work& work);

    /// The reference's view of the word of an offset that is in the window.
    [[nodiscard]] ReferenceEntry seen(std::uint64_t offset);
    void compare(std::uint64_t offset);
    void compare_all();
    void look(std::uint64_t offset);
    [[nodiscard]] work_table::DoneReason passed(std::uint64_t offset);
    void check_answer(const Handle& handle, const work_table::Answered& answered);
    void say(const WorkOperation& operation, Handle& handle, bool valid, work_table::Answered& answered);
    void expect(const WorkOperation& operation, const Handle& handle, std::uint64_t new_word);
    /// After a death: what became of each offset is one of the things that may have.
    void adopt(std::uint32_t worker, std::optional<std::uint64_t> settled);
    [[nodiscard]] bool may_become(const ReferenceEntry& from, const ReferenceEntry& to, std::uint64_t offset, std::uint32_t worker,
                                  bool settled);

    PlainWork<M> work_;
    ReferenceWork reference_;
    std::array<std::unique_ptr<PlainWorker<M>>, kWorkers> workers_;
    std::array<bool, kWorkers> dead_{};
    std::vector<Handle> handles_;
    std::vector<std::uint64_t> letters_;  // expected, of each offset, of all generations
    std::uint32_t points_to_live_ = 0;
    std::uint64_t fuzzy_until_ = 0;  // what dead workers left is found by then
};

void run_work_sequence(const WorkSequence& sequence);

}  // namespace ringmain::test
