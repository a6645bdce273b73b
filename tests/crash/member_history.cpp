// The log of the processes, and what must hold over it.
#include "member_history.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <new>
#include <stdexcept>

namespace ringmain::test {

namespace {

using Kind = MemberEvent::Kind;
constexpr std::size_t kEventsMax = 1 << 20;
constexpr std::size_t kProcessesMax = 4096;

}  // namespace

struct MemberHistory::Memory {
    std::atomic<std::uint64_t> count{0};
    std::array<std::atomic<bool>, kProcessesMax> leave{};
    std::array<MemberEvent, kEventsMax> events;
};

MemberHistory::MemberHistory() {
    void* const at = ::mmap(nullptr, sizeof(Memory), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) throw std::runtime_error("mmap failed");
    memory_ = static_cast<Memory*>(at);  // zero: no events
}

MemberHistory::~MemberHistory() { ::munmap(memory_, sizeof(Memory)); }

void MemberHistory::note(const MemberEvent& event) noexcept {
    const std::uint64_t at = memory_->count.fetch_add(1, std::memory_order_acq_rel);
    if (at >= kEventsMax) return;
    MemberEvent without_kind = event;
    without_kind.kind = Kind::none;
    memory_->events[at] = without_kind;
    std::atomic_ref<Kind>(memory_->events[at].kind).store(event.kind, std::memory_order_release);
}

bool MemberHistory::nearly_full() const noexcept { return memory_->count.load(std::memory_order_acquire) > kEventsMax - 10'000; }

std::vector<MemberEvent> MemberHistory::events() const {
    const std::uint64_t count = std::min<std::uint64_t>(memory_->count.load(std::memory_order_acquire), kEventsMax);
    return {memory_->events.begin(), memory_->events.begin() + static_cast<std::ptrdiff_t>(count)};
}

std::atomic<bool>& MemberHistory::leave(std::uint32_t process) noexcept { return memory_->leave[process % kProcessesMax]; }

namespace {

/// One process's time with one partition, or a reset.
struct Tenure {
    std::uint32_t process = 0;
    std::uint32_t partition = 0;
    std::uint32_t generation = 0;
    std::uint64_t start = 0;
    bool reset = false;
    bool lost = false;
    std::uint64_t delivered = 0;              // one more than the last offset
    std::uint64_t committed = 0;              // acknowledged last
    std::set<std::uint64_t> maybe{};          // tried or handed over, and not acknowledged
};

class Judge {
public:
    Judge(std::span<const std::set<std::uint64_t>> records, std::span<const std::uint64_t> committed)
        : records_(records), committed_(committed), delivered_(records.size()) {}

    std::vector<std::string> judge(const std::vector<MemberEvent>& events) {
        for (const MemberEvent& event : events) take(event);
        for (std::uint32_t p = 0; p < records_.size(); ++p) {
            check_chain(p);
            check_complete(p);
        }
        return std::move(faults_);
    }

private:
    static std::string text(const Tenure& one) {
        return "process " + std::to_string(one.process) + ", partition " + std::to_string(one.partition) + ", generation " +
               std::to_string(one.generation);
    }
    void fault(const Tenure& one, const std::string& what) { faults_.push_back(text(one) + ": " + what); }

    void take(const MemberEvent& event) {
        switch (event.kind) {
            case Kind::none: return;
            case Kind::disturbed: disturbed_.insert(event.process); return;
            case Kind::left: left_.insert(event.process); return;
            case Kind::assigned:
            case Kind::reset: begin(event); return;
            default: break;
        }
        const auto found = current_.find({event.process, event.partition});
        if (found == current_.end()) {
            faults_.push_back("process " + std::to_string(event.process) + " used partition " + std::to_string(event.partition) +
                              " without having it");
            return;
        }
        go_on(found->second->second, event);
    }

    void begin(const MemberEvent& event) {
        Tenure tenure{event.process, event.partition, event.generation, event.value};
        tenure.reset = event.kind == Kind::reset;
        tenure.delivered = tenure.committed = event.value;
        const auto [place, fresh] = tenures_[event.partition].emplace(event.generation, tenure);
        if (!fresh) fault(tenure, "two owners in one generation");
        if (!tenure.reset) current_[{event.process, event.partition}] = place;
    }

    void go_on(Tenure& tenure, const MemberEvent& event) {
        switch (event.kind) {
            case Kind::delivered: deliver(tenure, event); break;
            case Kind::trying: tenure.maybe.insert(event.value); break;
            case Kind::refused: tenure.maybe.erase(event.value); break;
            case Kind::committed:
                if (event.value < tenure.committed) fault(tenure, "a commit went back to " + std::to_string(event.value));
                if (event.value > tenure.delivered) fault(tenure, "a commit went beyond what was delivered");
                tenure.committed = event.value;
                tenure.maybe.erase(tenure.maybe.begin(), tenure.maybe.upper_bound(event.value));
                break;
            case Kind::revoked: tenure.maybe.insert(event.value); break;
            case Kind::lost: tenure.lost = true; break;
            default: break;
        }
    }

    void deliver(Tenure& tenure, const MemberEvent& event) {
        const auto& records = records_[tenure.partition];
        const auto first = records.lower_bound(tenure.delivered);
        if (event.value < tenure.delivered || first == records.end() || *first != event.value) {
            fault(tenure, "at " + std::to_string(tenure.delivered) + " it was given " + std::to_string(event.value));
        }
        std::uint64_t count = 0;
        for (auto one = first; one != records.end() && *one <= event.last; ++one, ++count) delivered_[tenure.partition].insert(*one);
        if (count != event.count) fault(tenure, "records are missing up to " + std::to_string(event.last));
        tenure.delivered = event.last + 1;
    }

    /// Each tenure begins exactly where the one before it ended. Generations that nobody noted had no time to commit.
    void check_chain(std::uint32_t partition) {
        const Tenure* before = nullptr;
        for (const auto& [generation, tenure] : tenures_[partition]) {
            if (before != nullptr && !tenure.reset) check_step(*before, tenure);
            before = &tenure;
        }
        if (before != nullptr && committed_[partition] != before->committed && !before->maybe.contains(committed_[partition])) {
            fault(*before, "in the end " + std::to_string(committed_[partition]) + " is committed");
        }
    }

    void check_step(const Tenure& before, const Tenure& after) {
        if (after.start != before.committed && !before.maybe.contains(after.start)) {
            fault(after, "began at " + std::to_string(after.start) + ", but " + std::to_string(before.committed) + " was committed by " +
                             text(before));
        }
        const bool clean = !before.reset && !before.lost && !disturbed_.contains(before.process) && left_.contains(before.process);
        if (clean && after.start < before.delivered) fault(after, "repeats what " + text(before) + " had processed");
    }

    void check_complete(std::uint32_t partition) {
        for (const std::uint64_t offset : records_[partition]) {
            if (offset < committed_[partition] && !delivered_[partition].contains(offset)) {
                faults_.push_back("partition " + std::to_string(partition) + ", offset " + std::to_string(offset) + " was skipped");
                return;
            }
        }
    }

    using Tenures = std::map<std::uint32_t, Tenure>;  // by generation
    std::span<const std::set<std::uint64_t>> records_;
    std::span<const std::uint64_t> committed_;
    std::vector<std::set<std::uint64_t>> delivered_;
    std::map<std::uint32_t, Tenures> tenures_;  // by partition
    std::map<std::pair<std::uint32_t, std::uint32_t>, Tenures::iterator> current_;
    std::set<std::uint32_t> disturbed_;
    std::set<std::uint32_t> left_;
    std::vector<std::string> faults_;
};

}  // namespace

std::vector<std::string> judge_members(const std::vector<MemberEvent>& events, std::span<const std::set<std::uint64_t>> records,
                                       std::span<const std::uint64_t> committed) {
    return Judge(records, committed).judge(events);
}

}  // namespace ringmain::test
