// Scenarios of workers' slots and of the cap on what all of them hold, counted by the words that are locked.
#include "explore/work_stage.hpp"

namespace ringmain::explore {

namespace {

using work_table::Answer;

// Two workers share a cap of one, which makes it a lock: whoever may hold a record sees that the other one has ended
// its own, so what handlers did comes one after the other.
class CapAsSeen : public QueueStage {
public:
    CapAsSeen() : QueueStage({.records = 2}, {.preemptions = 3, .stale = 2}, 2) {}
    void thread(unsigned index) override {
        Worker worker(*this, index);
        for (unsigned round = 0; round < 2; ++round) {
            worker.records.count = 0;
            if (workers_.announce(index, 1, 1, now_ + shape_.rules.lock_ms, now_) == 0)
                continue;
            for (std::uint64_t offset = 0; offset < shape_.records; ++offset)
                require(!is_of_another(work().word_of(offset), index), "who may hold all sees what another holds");
            if (worker.acquire(1) != 0)
                require(worker.ack(worker.records.held[0]).answer == Answer::done, "the ack of a holder is refused");
            workers_.settle(index, 1);
        }
    }

private:
    [[nodiscard]] static bool is_of_another(std::uint64_t word, unsigned slot) noexcept {
        return work_table::state_of(word) == work_table::WorkState::locked && work_table::slot_of(word) != slot;
    }
};

// One worker renews a lock for long, and then takes one for as long as usual. When that one is over the long one still
// counts: two may be held, and no more. (Who renews a lock that is over holds more than the cap, and may.)
class CapAndTimes : public QueueStage {
public:
    static constexpr std::uint32_t kCap = 2;
    CapAndTimes() : QueueStage({.records = 4}, {.preemptions = 3, .stale = 2}, 2) {}
    void begin() override {
        QueueStage::begin();
        renewed_ = false;
    }
    void thread(unsigned index) override {
        Worker worker(*this, index);
        const std::uint64_t now = now_;
        if (index == 1) {
            if (renewed_)
                pass(shape_.rules.lock_ms + 1);
            (void)take(worker, index, kCap, now_);
        } else if (take(worker, index, 1, now) != 0) {
            workers_.extend(index, now + 3 * shape_.rules.lock_ms, now);
            renewed_ = worker.renew(worker.records.held[0], 3 * shape_.rules.lock_ms).answer == Answer::done;
            (void)take(worker, index, 1, now);
        }
    }

private:
    std::size_t take(Worker& worker, unsigned index, std::uint32_t wanted, std::uint64_t now) {
        const std::uint32_t fits = workers_.announce(index, wanted, kCap, now + shape_.rules.lock_ms, now);
        const std::size_t got = fits == 0 ? 0 : worker.acquire(fits, now);
        if (got < fits)
            workers_.settle(index, fits - got);
        unsigned locked = 0;
        for (std::uint64_t offset = 0; offset < shape_.records; ++offset)
            locked += is_locked(word(offset)) ? 1 : 0;
        require(locked <= kCap, "more is in flight than the cap");
        return got;
    }
    [[nodiscard]] bool is_locked(std::uint64_t word) const noexcept {
        return work_table::state_of(word) == work_table::WorkState::locked &&
               !work_table::late(work_table::time_of(word), now_);
    }

    bool renewed_ = false;
};

// The only slot that is to be had is left, or its holder dies, while two join: it is never two workers'.
class JoinAtOnce : public QueueStage {
public:
    JoinAtOnce()
        : QueueStage({.workers = 3}, {.preemptions = 2, .stale = 1, .deaths = 1, .stops = 1, .mortal = 1}, 3) {}
    void set_up() override {
        QueueStage::set_up();
        for (const std::uint32_t slot : {1U, 2U})
            workers_.slot(slot).owner.store(client_of(5), std::memory_order_relaxed);
    }
    void begin() override {
        QueueStage::begin();
        holder_ = 0;
    }
    void thread(unsigned index) override {
        if (index == 0)
            return leave(0);
        const auto slot = workers_.join(client_of(index), IsDead{}, [](std::uint32_t, std::uint64_t) { return true; });
        if (!slot)
            return;
        require(*slot == 0, "a worker gets the slot of one that lives");
        require(holder_ == kNobody || fell(holder_), "two workers have one slot");
        holder_ = index;
        if (index == 1)
            leave(1);
    }
    void finish() override {
        const std::uint64_t owner = workers_.owner(0);
        require(owner == (holder_ == kNobody ? 0 : client_of(holder_)) || somebody_fell_leaving(owner),
                "a slot is not its worker's");
    }

private:
    static constexpr unsigned kNobody = kThreadsMax;

    void leave(unsigned index) {
        holder_ = kNobody;
        workers_.leave(0, client_of(index));
    }
    [[nodiscard]] bool somebody_fell_leaving(std::uint64_t owner) const noexcept {
        return holder_ == kNobody && owner == client_of(0) && fell(0);
    }

    unsigned holder_ = 0;
};

// A worker joins in a slot whose last holder was still counted, and both want the only record that the cap leaves.
class CapOfJoiner : public QueueStage {
public:
    CapOfJoiner() : QueueStage({.workers = 2}, {.preemptions = 3, .stale = 2}, 2) {}
    void set_up() override {
        QueueStage::set_up();
        auto& free = workers_.slot(1);
        free.owner.store(0, std::memory_order_relaxed);
        free.held.store(1, std::memory_order_relaxed);
        free.last_deadline.store(kNow + shape_.rules.lock_ms, std::memory_order_relaxed);
    }
    void begin() override {
        QueueStage::begin();
        granted_.fill(0);
    }
    void thread(unsigned index) override {
        if (index == 1) {
            const auto slot = workers_.join(client_of(1), IsDead{}, [](std::uint32_t, std::uint64_t) { return true; });
            require(slot == 1U, "a worker does not get the slot that is free");
        }
        granted_[index] = workers_.announce(index, 1, 1, now_ + shape_.rules.lock_ms, now_);
        require(granted_[0] + granted_[1] <= 1, "more is in flight than the cap");
    }
    void finish() override {
        for (const std::uint32_t slot : {0U, 1U})
            require(workers_.slot(slot).held.load(std::memory_order_relaxed) == granted_[slot],
                    "a worker is counted with what it does not hold");
    }

private:
    std::array<std::uint32_t, 2> granted_{};
};

const Registered cap_of_joiner{"queues.cap_of_joiner", [] { return std::make_unique<CapOfJoiner>(); }};
const Registered cap_as_seen{"queues.cap_as_seen", [] { return std::make_unique<CapAsSeen>(); }};
const Registered cap_and_times{"queues.cap_and_times", [] { return std::make_unique<CapAndTimes>(); }};
const Registered join_at_once{"queues.join_at_once", [] { return std::make_unique<JoinAtOnce>(); }};

}  // namespace

}  // namespace ringmain::explore
