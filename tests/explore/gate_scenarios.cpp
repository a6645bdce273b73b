// Scenarios of gates: a reader that begins to hold the log start, and movers that would pass it.
#include "explore/log_stage.hpp"
#include "gate_table/gate_table.hpp"

namespace ringmain::explore {

namespace {

class GateStage : public LogStage {
public:
    GateStage(const Bounds& bounds, unsigned threads)
        : LogStage({.records = 4, .block = true, .published = 2, .gates = 1}, bounds, threads) {
        keep_calm(log_.readers->gates[0].name.data(), sizeof log_.readers->gates[0].name);
    }

protected:
    // Reads everything from a gate on, moving it, and gives it back. Nothing above the gate may be gone.
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
        gated_from_ = kNoGate;
        gates.drop(*index);
    }
};

// A gate begins while two movers are on their way.
class GateBegins : public GateStage {
public:
    GateBegins() : GateStage({.preemptions = 3, .stale = 2}, 3) {}
    void thread(unsigned index) override {
        if (index == 2) {
            read_gated(2);
            return;
        }
        Shared publisher = shared_publisher(index);
        (void)publish(publisher, 10 * (index + 1), 1);
        if (index == 0)
            (void)publish(publisher, 11, 1);
    }
};

// The holder dies anywhere: its gate is ended by one compare-exchange, and a producer has room again.
class GateOfTheDead : public GateStage {
public:
    GateOfTheDead() : GateStage({.preemptions = 2, .stale = 2, .deaths = 1, .mortal = 1}, 3) {}
    void thread(unsigned index) override {
        if (index == 0) {
            read_gated(0);
            return;
        }
        if (index == 2 && recovery::reap_gates(log_, IsDead{}) != 0) {
            require(newest(&log_.readers->gates[0].owner) == 0, "a gate that was reaped is still there");
            gated_from_ = kNoGate;
        }
        if (index == 2)
            return;
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

const Registered gate_begins{"gates.begin", [] { return std::make_unique<GateBegins>(); }};
const Registered gate_of_the_dead{"gates.of_the_dead", [] { return std::make_unique<GateOfTheDead>(); }};

}  // namespace

}  // namespace ringmain::explore
