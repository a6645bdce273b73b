// Scenarios of a queue's locks: taken, answered, renewed, over, and taken back from the dead.
#include "explore/work_stage.hpp"

namespace ringmain::explore {

namespace {

using work_table::Answer;
using work_table::Answered;

// Two workers take what nobody had: each record goes to one, and each is acked.
class TakeAtOnce : public QueueStage {
public:
    TakeAtOnce() : QueueStage({.records = 2}, {.preemptions = 3, .stale = 1}, 2) {}
    void thread(unsigned index) override {
        Worker worker(*this, index);
        while (worker.acquire(1) != 0) {
            require(worker.ack(worker.records.held[0]).answer == Answer::done, "the ack of a holder is refused");
            worker.records.count = 0;
        }
    }
    void finish() override {
        QueueStage::finish();
        for (std::uint64_t offset = 0; offset < 2; ++offset)
            require(oracle_.deliveries(offset) == 1, "a record went to two workers");
    }
};

// A worker of three takes and dies or stops anywhere; the others finish everything.
class TakeDying : public QueueStage {
public:
    TakeDying() : QueueStage({.records = 2}, {.preemptions = 2, .stale = 1, .deaths = 1, .stops = 1, .mortal = 1}, 2) {}
    void thread(unsigned index) override {
        Worker worker(*this, index);
        if (index == 1 && choose(2) == 1)
            pass_a_lock();
        for (unsigned round = 0; round < 2 && worker.acquire(1) != 0; ++round) {
            (void)worker.ack(worker.records.held[0]);
            worker.records.count = 0;
        }
    }
};

// A lock is over while its holder acks: the ack counts as long as nobody else took the record, and then it is refused
// and told by whom. Who took it may die.
class AckAndExpiry : public QueueStage {
public:
    AckAndExpiry() : QueueStage({.held = 1}, {.preemptions = 4, .stale = 2, .deaths = 1, .mortal = 2}, 3) {}
    void begin() override {
        QueueStage::begin();
        others_began_ = false;
    }
    void thread(unsigned index) override {
        Worker worker(*this, index);
        if (index == 0) {
            if (choose(2) == 1)
                pass_a_lock();
            ack_late(worker);
            return;
        }
        if (index == 1)
            pass_a_lock();
        others_began_ = true;
        if (worker.acquire(1) == 0)
            return;
        if (index == 1) {
            (void)worker.ack(worker.records.held[0]);
        } else {
            (void)worker.nack(worker.records.held[0]);
        }
    }

private:
    void ack_late(Worker& worker) {
        const Answered answered = worker.ack(first_hands_[0]);
        if (answered.answer == Answer::done)
            return;
        require(others_began_, "an ack is refused that nobody was in the way of");
        require(work_table::count_of(first_hands_[0].lock) + 1 <= work_table::count_of(word(0)) ||
                    work_table::is_done(word(0), 0),
                "an ack is refused, and nobody else has taken the record");
        require(answered.answer == Answer::taken || answered.answer == Answer::finished,
                "a late ack is told something else");
    }

    bool others_began_ = false;
};

// A holder renews its lock again and again, and may die, beside those who would take the record when it is over.
class RenewAndExpiry : public QueueStage {
public:
    RenewAndExpiry() : QueueStage({.held = 1}, {.preemptions = 4, .stale = 2, .deaths = 1, .mortal = 1}, 3) {}
    void thread(unsigned index) override {
        Worker worker(*this, index);
        if (index == 0) {
            Hand hand = first_hands_[0];
            for (unsigned times = 0; times < 2; ++times) {
                if (worker.renew(hand, 2 * shape_.rules.lock_ms).answer != Answer::done)
                    return;
            }
            (void)worker.ack(hand);
            return;
        }
        pass_a_lock();
        if (worker.acquire(1) != 0)
            (void)worker.ack(worker.records.held[0]);
    }
};

// What is given back waits as long as it was told to, and no longer; what is released is had at once, and not counted.
// Who gives back may die in it, or one who takes.
class GiveBack : public QueueStage {
public:
    GiveBack() : QueueStage({.held = 1}, {.preemptions = 3, .stale = 1, .deaths = 1, .mortal = 3}, 3) {}
    void thread(unsigned index) override {
        Worker worker(*this, index);
        if (index == 0) {
            if (choose(2) == 0) {
                (void)worker.nack(first_hands_[0], 500);
            } else {
                (void)worker.release(first_hands_[0]);
            }
            return;
        }
        if (index == 1)
            pass(500);
        if (worker.acquire(1) == 0)
            return;
        if (choose(2) == 0) {
            (void)worker.ack(worker.records.held[0]);
        } else {
            (void)worker.release(worker.records.held[0]);
        }
    }
};

// A holder dies or stops anywhere in its ack. Two with the proof take its records back and free its slot, where one of
// them may die or stop as well, and a new worker comes into the slot; of a holder that only stopped nothing is taken
// before its time.
class ReapTheDead : public QueueStage {
public:
    ReapTheDead()
        : QueueStage({.records = 2, .workers = 3, .held = 2},
                     {.preemptions = 2, .stale = 1, .deaths = 2, .stops = 1, .mortal = 3}, 3) {}
    void set_up() override {
        QueueStage::set_up();
        workers_.slot(2).owner.store(client_of(5),
                                     std::memory_order_relaxed);  // so that only those of the dead are free
    }
    void thread(unsigned index) override {
        if (index == 0) {
            Worker worker(*this, 0);
            (void)worker.ack(first_hands_[0]);
            (void)worker.ack(first_hands_[1]);
        } else if (index == 1) {
            const std::uint64_t owner = workers_.owner(0);
            if (owner == client_of(0) && IsDead{}(owner)) {
                (void)take_back(0, owner);
                (void)workers_.free(0, owner);
            }
        } else {
            succeed();
        }
    }
    void finish() override {
        if (proven_dead(0)) {
            const std::uint64_t owner = workers_.owner(0);
            if (owner == client_of(0) && take_back(0, owner))
                (void)workers_.free(0, owner);
            require(workers_.owner(0) != client_of(0), "the slot of the dead is not free");
        }
        QueueStage::finish();
    }

private:
    bool take_back(std::uint32_t slot, std::uint64_t dead) const {
        (void)work_table::return_records(
            work(), shape_.rules, slot, [&] { return workers_.owner(slot) == dead; }, now_);
        return true;
    }
    void succeed() {
        const auto slot = workers_.join(
            client_of(2), IsDead{}, [&](std::uint32_t which, std::uint64_t dead) { return take_back(which, dead); });
        if (!slot)
            return;
        require(*slot < 2 && fell(*slot), "a worker gets the slot of one that lives");
        pass(shape_.rules.backoff_max_ms + work_table::kSweepMs);
        Worker worker(*this, *slot);
        const std::size_t got = worker.acquire(2);
        for (std::size_t i = 0; i < got; ++i)
            require(worker.ack(worker.records.held[i]).answer == Answer::done, "a new holder's ack is refused");
    }
};

// Records are finished out of order in a window of two, so that each word is used twice, and the start is moved by all.
class MoveWindow : public QueueStage {
public:
    MoveWindow()
        : QueueStage({.records = 4, .window = 2, .held = 2},
                     {.preemptions = 2, .stale = 1, .deaths = 1, .stops = 1, .mortal = 1}, 3) {}
    void thread(unsigned index) override {
        Worker worker(*this, index);
        if (index == 0) {
            (void)worker.ack(first_hands_[1]);
            (void)worker.ack(first_hands_[0]);
        } else if (index == 1) {
            for (unsigned i = 0; i < 2; ++i)
                (void)work_table::advance(work());
        } else {
            if (choose(2) == 1)
                pass_a_lock();
            const std::size_t got = worker.acquire(2);
            for (std::size_t i = 0; i < got; ++i)
                (void)worker.ack(worker.records.held[got - 1 - i]);
        }
    }
};

// Retention takes records that are held, acked and taken at the same time: each is either acked or lost, and told once.
// The holder or who deletes may die.
class LoseRecords : public QueueStage {
public:
    LoseRecords()
        : QueueStage({.records = 2, .held = 1, .retention = true},
                     {.preemptions = 3, .stale = 2, .deaths = 1, .mortal = 5}, 3) {}
    void thread(unsigned index) override {
        if (index == 2) {
            (void)partition_log::delete_before(log_, 2);
            return;
        }
        Worker worker(*this, index);
        if (index == 0) {
            (void)worker.ack(first_hands_[0]);
            return;
        }
        pass(work_table::kSweepMs);  // so that it looks at what others hold
        const std::size_t got = worker.acquire(2);
        for (std::size_t i = 0; i < got; ++i)
            (void)worker.ack(worker.records.held[i]);
    }
};

const Registered take_at_once{"queues.take_at_once", [] { return std::make_unique<TakeAtOnce>(); }};
const Registered take_dying{"queues.take_dying", [] { return std::make_unique<TakeDying>(); }};
const Registered ack_expiry{"queues.ack_expiry", [] { return std::make_unique<AckAndExpiry>(); }};
const Registered renew_expiry{"queues.renew_expiry", [] { return std::make_unique<RenewAndExpiry>(); }};
const Registered give_back{"queues.give_back", [] { return std::make_unique<GiveBack>(); }};
const Registered reap_the_dead{"queues.reap_the_dead", [] { return std::make_unique<ReapTheDead>(); }};
const Registered move_window{"queues.move_window", [] { return std::make_unique<MoveWindow>(); }};
const Registered lose_records{"queues.lose_records", [] { return std::make_unique<LoseRecords>(); }};

}  // namespace

}  // namespace ringmain::explore
