// Scenarios of bodies in extents: changing, sealing, taking over, and what becomes of those of the dead.
#include "explore/log_stage.hpp"
#include "recovery/attachment.hpp"

namespace ringmain::explore {

namespace {

constexpr unsigned kLarge = 6;  // words: more than a cell holds, and one body fills an extent

// Every record changes the extent; a reader reads in extents while they are used again.
class ExtentReuse : public LogStage {
public:
    ExtentReuse() : LogStage({.records = 2, .extents = 3}, {.preemptions = 2, .stale = 2}, 3) {}
    void thread(unsigned index) override {
        if (index == 2) {
            (void)read_from(0, Open::close);
            return;
        }
        Shared publisher = shared_publisher(index);
        (void)publish(publisher, 10 * (index + 1), kLarge);
        if (index == 0)
            (void)publish(publisher, 11, kLarge);
        publisher.bodies().seal();
    }
};

// One producer with two extents laps a reader: the body goes with the extent, not with the cell.
class ExtentLapped : public LogStage {
public:
    ExtentLapped() : LogStage({.records = 8, .producer_slots = 1, .extents = 2}, {.preemptions = 3, .stale = 3}, 2) {}
    void thread(unsigned index) override {
        if (index == 1) {
            (void)read_from(0, Open::wait);
            return;
        }
        Shared publisher = shared_publisher(index);
        for (std::uint64_t id = 10; id < 14; ++id)
            require(publish(publisher, id, kLarge) == Sent::published, "a producer has no extent");
    }
};

// A producer dies anywhere with an extent and a ticket. Two others reap it at once, one takes over what it held.
class ReapExtents : public LogStage {
public:
    ReapExtents()
        : LogStage({.records = 4, .extents = 1}, {.preemptions = 2, .stale = 1, .deaths = 1, .mortal = 1}, 3) {}
    void set_up() override {
        LogStage::set_up();
        log_.producers[1].owner.store(0, std::memory_order_relaxed);
    }
    void thread(unsigned index) override {
        if (index == 0) {
            Shared publisher = shared_publisher(0);
            (void)publish(publisher, 10, kLarge);
            (void)publish(publisher, 11, kLarge);
            return;
        }
        if (index == 1) {
            const bool is_dead = proven_dead(0);
            (void)recovery::reap_producers(log_, is_dead_);
            require(!is_dead || newest(&log_.producers[0].owner) != owner_of(0), "a dead producer has its slot");
            (void)read_from(0, Open::close);
            release_cells();
            return;
        }
        (void)recovery::reap_producers(log_, is_dead_);
        recovery::Attachment<M, IsDead> attachment(log_, owner_of(2), is_dead_);
        const recovery::Attached attached = attachment.attach_shared();
        require(attached.outcome == recovery::AttachOutcome::attached, "a producer finds no slot");
        takes_slot(2, attached.slot, attached.generation);
        Shared publisher(log_, attached.slot, attached.generation);
        (void)publish(publisher, 30, kLarge);
    }
    void finish() override {
        LogStage::finish();
        if (!proven_dead(0))
            return;
        // the other's extent is given back, the dead one's was or is taken away: there is one again
        (void)recovery::reap_producers(log_, is_dead_);
        release_cells();
        (void)recovery::seal_extents(log_, slot_of(2), generation_of(2));
        recovery::Attachment<M, IsDead> attachment(log_, owner_of(1), is_dead_);
        const recovery::Attached attached = attachment.attach_shared();
        require(attached.outcome == recovery::AttachOutcome::attached, "no slot came back after a death");
        Shared publisher(log_, attached.slot, attached.generation);
        require(publish(publisher, 40, kLarge) == Sent::published, "no extent came back after a death");
        LogStage::finish();
    }

private:
    IsDead is_dead_;
};

// Two producers and one extent: each gives it back behind every record, and the other takes it.
class ExtentPassedOn : public LogStage {
public:
    ExtentPassedOn() : LogStage({.records = 4, .extents = 1}, {.preemptions = 3, .stale = 2}, 3) {}
    void thread(unsigned index) override {
        if (index == 2) {
            (void)read_from(0, Open::close);
            return;
        }
        Shared publisher = shared_publisher(index);
        for (std::uint64_t id = 10 * (index + 1); id < 10 * (index + 1) + 2; ++id) {
            (void)publish(publisher, id, kLarge);
            publisher.bodies().seal();
        }
    }
    void finish() override {
        LogStage::finish();
        Shared publisher = shared_publisher(0);
        require(publish(publisher, 30, kLarge) == Sent::published, "an extent that was given back is not free");
        LogStage::finish();
    }
};

const Registered extent_passed_on{"log.extent_passed_on", [] { return std::make_unique<ExtentPassedOn>(); }};
const Registered extent_reuse{"log.extent_reuse", [] { return std::make_unique<ExtentReuse>(); }};
const Registered extent_lapped{"log.extent_lapped", [] { return std::make_unique<ExtentLapped>(); }};
const Registered reap_extents{"log.reap_extents", [] { return std::make_unique<ReapExtents>(); }};

}  // namespace

}  // namespace ringmain::explore
