// Scenarios of exclusive producers: publishing without tickets, dying, succession, and who may attach beside whom.
#include "explore/log_stage.hpp"
#include "partition_log/exclusive_publisher.hpp"
#include "recovery/attachment.hpp"

namespace ringmain::explore {

namespace {

using Exclusive = partition_log::ExclusivePublisher<ExploredMemory>;

class ExclusiveStage : public LogStage {
public:
    using LogStage::LogStage;
    // thread 0 holds the lease, the other slots are free
    void set_up() override {
        LogStage::set_up();
        log_.control->lease.store(recovery::lease_word(0, kGeneration), std::memory_order_relaxed);
        for (unsigned slot = 1; slot < shape_.producer_slots; ++slot)
            log_.producers[slot].owner.store(0, std::memory_order_relaxed);
    }

protected:
    using Attachment = recovery::Attachment<ExploredMemory, IsDead>;
    [[nodiscard]] Attachment attachment(unsigned thread) const { return {log_, owner_of(thread), is_dead_}; }
    IsDead is_dead_;
};

// One producer without fetch-add and compare-exchange laps two readers.
class ExclusiveLaps : public ExclusiveStage {
public:
    ExclusiveLaps()
        : ExclusiveStage({.records = 2, .producer_slots = 1, .published = 1}, {.preemptions = 3, .stale = 2}, 3) {}
    void thread(unsigned index) override {
        if (index != 0) {
            (void)read_from(index - 1, Open::close);
            return;
        }
        Exclusive publisher(log_, 0, kGeneration);
        for (std::uint64_t id = 10; id < 13; ++id)
            require(publish(publisher, id) == Sent::published, "an exclusive producer is refused");
    }
};

// The holder of the lease dies anywhere, or gives it back; a successor goes on behind what was committed.
class ExclusiveSuccession : public ExclusiveStage {
public:
    explicit ExclusiveSuccession(const Bounds& bounds, bool block = false)
        : ExclusiveStage(block ? kFull : kOneThere, bounds, 3) {}
    void thread(unsigned index) override {
        if (index == 2) {
            (void)read_from(0, Open::close);
            return;
        }
        if (index == 0) {
            Exclusive publisher(log_, 0, kGeneration);
            (void)publish(publisher, 10);
            (void)publish(publisher, 11);
            attachment(0).give_back_lease();
            attachment(0).detach(0);
            return;
        }
        const bool is_dead = proven_dead(0);
        const recovery::Attached attached = attachment(1).attach_exclusive();
        require(!is_dead || attached.outcome == recovery::AttachOutcome::attached, "the lease of the dead is not free");
        require(attached.outcome == recovery::AttachOutcome::attached ||
                    attached.outcome == recovery::AttachOutcome::exclusive ||
                    attached.outcome == recovery::AttachOutcome::shared,
                "a successor is refused for another reason than that there is a producer");
        if (attached.outcome != recovery::AttachOutcome::attached)
            return;
        takes_slot(1, attached.slot, attached.generation);
        Exclusive publisher(log_, attached.slot, attached.generation);
        require(publish(publisher, 20) == Sent::published, "a successor is refused");
    }
    void finish() override {
        ExclusiveStage::finish();
        const std::uint64_t lease = log_.control->lease.load(std::memory_order_relaxed);
        require(!ended(0) || lease != recovery::lease_word(0, kGeneration),
                "a lease that was given back is still there");
        (void)read_from(log_.control->log_start.load(std::memory_order_relaxed), Open::close);
    }

private:
    static constexpr LogShape kOneThere{.records = 2, .producer_slots = 2, .published = 1};
    // as many as two producers leave room for: each record makes room by moving log_start
    static constexpr LogShape kFull{.records = 4, .producer_slots = 2, .block = true, .published = 2};
};

// Who takes the lease, publishes and dies anywhere leaves it to a keeper, who takes it away while the next one comes:
// finding no lease, that one finds all that was published under it, and what it takes stays its own. Both come after
// the death, but have heard of nothing: that leaves room for many stale values.
class LeaseReaped : public ExclusiveStage {
public:
    LeaseReaped()
        : ExclusiveStage({.records = 2, .producer_slots = 2}, {.preemptions = 2, .stale = 4, .deaths = 1, .mortal = 1},
                         3) {}
    void set_up() override {
        ExclusiveStage::set_up();
        log_.control->lease.store(0, std::memory_order_relaxed);
        log_.producers[0].owner.store(0, std::memory_order_relaxed);
    }
    void begin() override {
        ExclusiveStage::begin();
        leases_ = {};
    }
    void thread(unsigned index) override {
        if (index != 0 && !fell(0))
            return;
        if (index == 1) {
            (void)recovery::reap_producers(log_, is_dead_);
            return;
        }
        const recovery::Attached attached = attachment(index).attach_exclusive();
        require(attached.outcome != recovery::AttachOutcome::corrupt, "an attachment finds what cannot be");
        if (attached.outcome != recovery::AttachOutcome::attached)
            return;
        leases_[index] = recovery::lease_word(attached.slot, attached.generation);
        takes_slot(index, attached.slot, attached.generation);
        Exclusive publisher(log_, attached.slot, attached.generation);
        require(publish(publisher, 10 * (index + 1), 1) == Sent::published, "an exclusive producer is refused");
    }
    void finish() override {
        ExclusiveStage::finish();
        const std::uint64_t lease = log_.control->lease.load(std::memory_order_relaxed);
        for (const unsigned thread : {0U, 2U})
            require(leases_[thread] == 0 || leases_[thread] == lease || fell(thread),
                    "a lease is taken from the living");
    }

private:
    std::array<std::uint64_t, 3> leases_{};
};

// A shared producer dies anywhere, and an exclusive one comes, beside a reader and keeper: nothing stays open, since
// nobody closes for it.
class ExclusiveAfterShared : public ExclusiveStage {
public:
    ExclusiveAfterShared()
        : ExclusiveStage({.records = 2, .producer_slots = 2}, {.preemptions = 2, .stale = 2, .deaths = 1, .mortal = 1},
                         3) {}
    void set_up() override {
        ExclusiveStage::set_up();
        log_.control->lease.store(0, std::memory_order_relaxed);
    }
    void thread(unsigned index) override {
        if (index == 2) {
            (void)read_from(0, Open::close);
            release_cells();
        } else if (index == 0) {
            Shared publisher = shared_publisher(0);
            (void)publish(publisher, 10, 1);
            (void)publish(publisher, 11, 1);
        } else {
            come_alone();
        }
    }

private:
    void come_alone() {
        const recovery::Attached attached = attachment(1).attach_exclusive();
        require(attached.outcome == recovery::AttachOutcome::attached ||
                    attached.outcome == recovery::AttachOutcome::shared,
                "an exclusive producer is refused for another reason than that there is a shared one");
        if (attached.outcome != recovery::AttachOutcome::attached)
            return;
        const std::uint64_t end = newest(&log_.control->log_end);
        for (std::uint64_t offset = newest(&log_.control->log_start); offset < end; ++offset)
            require(partition_log::decided(newest(&log_.cell(offset).word), offset),
                    "an exclusive producer leaves a ticket of the dead open");
        takes_slot(1, attached.slot, attached.generation);
        Exclusive publisher(log_, attached.slot, attached.generation);
        require(publish(publisher, 20, 1) == Sent::published, "an exclusive producer is refused");
    }
};

// Exclusive and shared producers come together; one of them may die. Never are both kinds in, nor two exclusive ones.
class AttachBoth : public ExclusiveStage {
public:
    explicit AttachBoth(const Bounds& bounds) : ExclusiveStage({.records = 2, .producer_slots = 3}, bounds, 3) {}
    void set_up() override {
        ExclusiveStage::set_up();
        log_.control->lease.store(0, std::memory_order_relaxed);
        log_.producers[0].owner.store(0, std::memory_order_relaxed);
    }
    void begin() override {
        ExclusiveStage::begin();
        in_ = {};
    }
    void thread(unsigned index) override {
        Attachment attach = attachment(index);
        const bool exclusive = index != 2;
        const recovery::Attached attached = exclusive ? attach.attach_exclusive() : attach.attach_shared();
        require(attached.outcome != recovery::AttachOutcome::corrupt, "an attachment finds what cannot be");
        if (attached.outcome != recovery::AttachOutcome::attached)
            return;
        for (unsigned other = 0; other < 3; ++other)
            require(!in_[other] || fell(other), "two producers are in that exclude each other");
        in_[index] = true;
        takes_slot(index, attached.slot, attached.generation);
        if (exclusive) {
            Exclusive publisher(log_, attached.slot, attached.generation);
            (void)publish(publisher, 10 * (index + 1), 1);
        } else {
            Shared publisher(log_, attached.slot, attached.generation);
            (void)publish(publisher, 10 * (index + 1), 1);
        }
        in_[index] = false;
        if (exclusive)
            attach.give_back_lease();
        attach.detach(attached.slot);
    }

private:
    std::array<bool, 3> in_{};
};

// One slot goes from producer to producer, each of which is told another tenure. One may die in it.
class SlotPassedOn : public ExclusiveStage {
public:
    SlotPassedOn()
        : ExclusiveStage({.records = 2, .producer_slots = 1}, {.preemptions = 3, .stale = 3, .deaths = 1, .mortal = 1},
                         2) {}
    void set_up() override {
        ExclusiveStage::set_up();
        log_.control->lease.store(0, std::memory_order_relaxed);
        log_.producers[0].owner.store(0, std::memory_order_relaxed);
    }
    void begin() override {
        ExclusiveStage::begin();
        tenures_ = 0;
    }
    void thread(unsigned index) override {
        for (unsigned times = 0; times < 2; ++times) {
            Attachment attach = attachment(index);
            const recovery::Attached attached = attach.attach_shared();
            if (attached.outcome != recovery::AttachOutcome::attached)
                continue;
            require((tenures_ >> attached.generation & 1U) == 0, "two tenures have one generation");
            tenures_ |= 1U << attached.generation;
            takes_slot(index, 0, attached.generation);
            Shared publisher(log_, 0, attached.generation);
            (void)publish(publisher, 10 * (index + 1) + times, 1);
            attach.detach(0);
        }
    }
    void finish() override {
        ExclusiveStage::finish();
        if (proven_dead(0))
            (void)recovery::reap_producers(log_, is_dead_);
        require(log_.producers[0].owner.load(std::memory_order_relaxed) == 0,
                "a slot that was given back, or whose holder died, is not free");
    }

private:
    unsigned tenures_ = 0;  // bits
};

// A producer dies anywhere, and a keeper gives its slot to the next one: what the entry says is that one's, to the end.
class SlotReaped : public ExclusiveStage {
public:
    SlotReaped()
        : ExclusiveStage({.records = 2, .producer_slots = 1}, {.preemptions = 2, .stale = 5, .deaths = 1, .mortal = 1},
                         3) {}
    void set_up() override {
        ExclusiveStage::set_up();
        log_.control->lease.store(0, std::memory_order_relaxed);
    }
    void thread(unsigned index) override {
        if (index == 0) {
            Shared publisher = shared_publisher(0);
            (void)publish(publisher, 10, 1);
        } else if (fell(0) && index == 1) {
            (void)recovery::reap_producers(log_, is_dead_);
        } else if (fell(0)) {
            const recovery::Attached attached = attachment(2).attach_shared();
            require(attached.outcome == recovery::AttachOutcome::attached, "the slot of the dead is not to be had");
            takes_slot(2, attached.slot, attached.generation);
            Shared publisher(log_, attached.slot, attached.generation);
            (void)publish(publisher, 30, 1);
        }
    }
    void finish() override {
        ExclusiveStage::finish();
        const auto& entry = log_.producers[0];
        require(entry.owner.load(std::memory_order_relaxed) != owner_of(2) ||
                    entry.ticket.load(std::memory_order_relaxed) == partition_log::kIdle,
                "a producer that is idle seems to hold a ticket");
    }
};

const Registered exclusive_laps{"log.exclusive_laps", [] { return std::make_unique<ExclusiveLaps>(); }};
// Few schedules and many stale values, and the other way round: what a successor missed all of would show.
constexpr Bounds kFewStale{.preemptions = 3, .stale = 2, .deaths = 1, .mortal = 1};
constexpr Bounds kManyStale{.preemptions = 2, .stale = 7, .deaths = 1, .mortal = 1};
const Registered exclusive_succession{"log.exclusive_succession",
                                      [] { return std::make_unique<ExclusiveSuccession>(kFewStale); }};
const Registered succession_stale{"log.succession_stale",
                                  [] { return std::make_unique<ExclusiveSuccession>(kManyStale); }};
const Registered exclusive_block{"log.exclusive_block", [] {
                                     return std::make_unique<ExclusiveSuccession>(
                                         Bounds{.preemptions = 2, .stale = 2, .deaths = 1, .mortal = 1}, true);
                                 }};
const Registered lease_reaped{"log.lease_reaped", [] { return std::make_unique<LeaseReaped>(); }};
const Registered exclusive_after_shared{"log.exclusive_after_shared",
                                        [] { return std::make_unique<ExclusiveAfterShared>(); }};
const Registered slot_passed_on{"log.slot_passed_on", [] { return std::make_unique<SlotPassedOn>(); }};
const Registered slot_reaped{"log.slot_reaped", [] { return std::make_unique<SlotReaped>(); }};
const Registered attach_both{"log.attach_both", [] { return std::make_unique<AttachBoth>(kFewStale); }};
const Registered attach_stale{"log.attach_stale", [] { return std::make_unique<AttachBoth>(kManyStale); }};

}  // namespace

}  // namespace ringmain::explore
