// Scenarios of gates: a reader that begins to hold the log start, and movers that would pass it.
#include <algorithm>

#include "explore/log_stage.hpp"
#include "gate_table/gate_table.hpp"

namespace ringmain::explore {

namespace {

class GateStage : public LogStage {
public:
    GateStage(const Bounds& bounds, unsigned threads, std::uint32_t producers = 2, std::uint32_t gates = 1)
        : LogStage({.records = 4, .producer_slots = producers, .block = true, .published = 2, .gates = gates}, bounds,
                   threads) {
        for (std::uint32_t gate = 0; gate < gates; ++gate)
            keep_calm(log_.readers->gates[gate].name.data(), sizeof log_.readers->gates[gate].name);
    }

protected:
    // Reads everything from a gate on, moving it. Nothing above the gate may be gone.
    void read_gated(unsigned thread) {
        gate_table::GateTable<M> gates(log_.readers);
        const auto index = gates.claim(owner_of(thread), "g");
        require(index.has_value(), "there is no gate for a reader");
        gated_from_ = gates.hold(*index, 0, log_.control->gate_floor);
        const std::uint64_t read_to = read_from(gated_from_, Open::wait);
        require(read_to >= gated_from_, "a gated reader goes back");
        gated_from_ = read_to;
        gates.move(*index, read_to);
        gated_from_ = read_from(read_to, Open::wait);
        gates.move(*index, gated_from_);
    }
    void drop_gate() {
        gated_from_ = kNoGate;
        gate_table::GateTable<M>(log_.readers).drop(0);
        require(newest(&log_.readers->gates[0].owner) == 0, "a gate that was given back is not free");
    }
    /// The gate holds what it is to hold, and no more.
    void check_held() const {
        require(newest(&log_.control->log_start) <= gated_from_, "log_start has passed a gate");
        const std::uint64_t end = log_.control->log_end.load(std::memory_order_relaxed);
        const std::uint64_t may_go = std::min(end, gated_from_);
        require(partition_log::advance_start(log_, end).start == may_go,
                "a gate holds what was read, or not what was not");
    }
};

// A gate begins while two movers are on their way, one of which may die.
class GateBegins : public GateStage {
public:
    GateBegins() : GateStage({.preemptions = 3, .stale = 2, .deaths = 1, .mortal = 1}, 3) {}
    void thread(unsigned index) override {
        if (index == 2) {
            read_gated(2);
            if (choose(2) == 1)
                drop_gate();
            return;
        }
        Shared publisher = shared_publisher(index);
        (void)publish(publisher, 10 * (index + 1), 1);
        if (index == 0)
            (void)publish(publisher, 11, 1);
    }
    void finish() override {
        GateStage::finish();
        check_held();
    }
};

// The holder dies anywhere: its gate is ended by one compare-exchange, and a producer has room again. Who reaps it may
// die as well.
class GateOfTheDead : public GateStage {
public:
    GateOfTheDead() : GateStage({.preemptions = 2, .stale = 2, .deaths = 2, .mortal = 5}, 3) {}
    void thread(unsigned index) override {
        if (index == 0) {
            read_gated(0);
            drop_gate();
            return;
        }
        if (index == 2) {
            const bool is_dead = proven_dead(0);
            const std::uint64_t reaped = recovery::reap_gates(log_, IsDead{});
            if (is_dead || reaped != 0) {
                require(newest(&log_.readers->gates[0].owner) == 0, "a gate that was reaped is still there");
                gated_from_ = kNoGate;
            }
            return;
        }
        Shared publisher = shared_publisher(1);
        (void)publish(publisher, 10, 1);
    }
    void finish() override {
        GateStage::finish();
        (void)recovery::reap_gates(log_, IsDead{});
        gated_from_ = kNoGate;
        Shared publisher = shared_publisher(1);
        require(publish(publisher, 20, 1) == Sent::published && publish(publisher, 21, 1) == Sent::published,
                "a gate of the dead holds the log");
    }
};

// A gate that its holder gives back, or leaves when it dies, is taken by the next reader, beside another who reaps it
// and a producer that moves the start.
class GateHandedOn : public GateStage {
public:
    GateHandedOn() : GateStage({.preemptions = 3, .stale = 2, .deaths = 1, .mortal = 2}, 4, 1, 3) {}
    void begin() override {
        GateStage::begin();
        taken_ = {};
    }
    void set_up() override {
        GateStage::set_up();
        log_.readers->gates[0].word.store(gate_table::GateTable<M>::held_at(0), std::memory_order_relaxed);
        log_.readers->gates[0].owner.store(owner_of(1), std::memory_order_relaxed);
    }
    void thread(unsigned index) override {
        gate_table::GateTable<M> gates(log_.readers);
        if (index == 0) {
            Shared publisher = shared_publisher(0);
            for (std::uint64_t id = 10; id < 14; ++id)
                (void)publish(publisher, id, 1);
        } else if (index == 1) {
            gates.move(0, 1);
            gates.move(0, 2);
            gates.drop(0);
        } else {
            (void)recovery::reap_gates(log_, IsDead{});
            take_over(gates, index);
        }
    }
    void finish() override {
        GateStage::finish();
        (void)recovery::reap_gates(log_, IsDead{});
        check_held();
    }

private:
    void take_over(gate_table::GateTable<M>& gates, unsigned thread) {
        const auto index = gates.claim(owner_of(thread), "h");
        require(index.has_value(), "there is no gate for a reader");
        taken_[thread - 2] = *index + 1;
        require(taken_[0] != taken_[1], "two readers have one gate");
        if (thread == 2)
            return;  // and never begins
        gated_from_ = gates.hold(*index, 0, log_.control->gate_floor);
        require(newest(&log_.control->log_start) <= gated_from_, "log_start has passed a gate that begins");
        (void)read_from(gated_from_, Open::wait);
    }

    std::array<std::uint32_t, 2> taken_{};  // + 1
};
;

const Registered gate_begins{"gates.begin", [] { return std::make_unique<GateBegins>(); }};
const Registered gate_handed_on{"gates.handed_on", [] { return std::make_unique<GateHandedOn>(); }};
const Registered gate_of_the_dead{"gates.of_the_dead", [] { return std::make_unique<GateOfTheDead>(); }};

}  // namespace

}  // namespace ringmain::explore
