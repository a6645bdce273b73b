// What a test of a structure hands to the explorer: memory, threads, bounds and an oracle.
//
//   class Handover : public Scenario {
//       Handover() : Scenario({.preemptions = 2, .stale = 2}, 2) { share({base, bytes}); }
//       void set_up() override { ... }                            // the shared bytes before every execution, from
//       zeros void begin() override { got_ = 0; }                       // private state of this execution void
//       thread(unsigned index) override { ... }              // structures over ExploredMemory, made here void finish()
//       override { require(got_ == 1, "..."); }     // sees the last value of everything
//   };
//   const Registered registered{"handover", [] { return std::make_unique<Handover>(); }};
//
// The bytes that are shared keep what set_up wrote into them, in every execution: writes of threads live in histories
// beside them. All else that a thread changes is the scenario's, and begin() makes it new. Threads run one at a time,
// so private state needs no atomics; it is an oracle's, and the structures must not read it.
//
// In a thread the work may be abandoned at any step (death, violation): nothing is unwound, so what it makes there must
// be trivially destructible, or empty of memory.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "explore/weak_memory.hpp"

namespace ringmain::explore {

/// What the explorer may do in one execution. All combinations within are tried, if the budget is large enough.
struct Bounds {
    unsigned preemptions =
        2;                // a thread is left for another at any step; going on with another at a thread's end is free
    unsigned stale = 2;   // accesses that do not take the newest value, writes that fall behind others
    unsigned deaths = 0;  // threads that die at any step
    unsigned stops = 0;   // threads that stop for ever at any step, and are not proven dead
    unsigned mortal = 0;  // which threads may: bit i is thread i
    unsigned steps_max = 2000;  // more are a violation: somebody makes no progress
};

class Scenario {
public:
    Scenario(const Bounds& bounds, unsigned threads) : bounds_(bounds), threads_(threads) {}
    virtual ~Scenario() = default;
    Scenario(const Scenario&) = delete;
    Scenario& operator=(const Scenario&) = delete;

    /// Once, on zeroed memory, before all executions; through atomics or not.
    virtual void set_up() {}
    /// Before each execution.
    virtual void begin() = 0;
    virtual void thread(unsigned index) = 0;
    /// After each execution that violated nothing yet; the atomics then answer the last value of everything.
    virtual void finish() {}
    /// Before each store of a thread into shared bytes (not: changes of a word by read-modify-write): for oracles.
    virtual void stores(unsigned /*thread*/, const void* /*address*/) {}
    /// For traces.
    [[nodiscard]] virtual std::string name_of_location(const void* address) const;

    [[nodiscard]] const Bounds& bounds() const noexcept { return bounds_; }
    [[nodiscard]] unsigned threads() const noexcept { return threads_; }
    [[nodiscard]] const std::vector<Region>& regions() const noexcept { return regions_; }
    [[nodiscard]] const std::vector<Calm>& calm() const noexcept { return calm_; }

protected:
    void share(const Region& region) { regions_.push_back(region); }
    /// Accesses of these words are no steps: nobody may see in which order they come. Words that are read and never
    /// written, and words that are only added to, relaxed. The explorer ends if that is not so.
    void keep_calm(const void* at, std::size_t bytes) { calm_.push_back({static_cast<const std::byte*>(at), bytes}); }

private:
    Bounds bounds_;
    unsigned threads_;
    std::vector<Region> regions_;
    std::vector<Calm> calm_;
};

/// A scenario by its name, for tests, replays and mutants.
struct Registered {
    Registered(std::string name, std::function<std::unique_ptr<Scenario>()> make);
};
[[nodiscard]] std::vector<std::string> scenario_names();
/// Null if there is none of this name.
[[nodiscard]] std::unique_ptr<Scenario> make_scenario(const std::string& name);

// What the code of a scenario asks and tells, inside of an execution.

/// Violation of what must hold: the execution ends here, and is reported with the word that repeats it.
void require(bool holds, const char* what);
/// The index of the running thread.
[[nodiscard]] unsigned this_thread() noexcept;
/// Proof by the kernel that a thread has died. If it has, all it did happened before what follows. A step.
[[nodiscard]] bool proven_dead(unsigned thread);
/// The thread died or was stopped: for oracles, tells the structures nothing.
[[nodiscard]] bool fell(unsigned thread) noexcept;
/// The thread came to its end: for oracles.
[[nodiscard]] bool ended(unsigned thread) noexcept;
/// Lets another thread go on, free of bounds: what waiting loops do. False: there is none.
bool give_way();
/// A full fence in every thread that is not dead, as by membarrier(2): in this one, in the others one after the other,
/// in this one again. A step for each.
void barrier_everywhere();
/// As futex(2): the thread sleeps if the low half of the word is `expected` in its newest value, until it is woken.
/// Nothing comes between the look and the sleep.
void sleep_on(const void* word, std::uint32_t expected);
/// Wakes every thread that sleeps on the word. It tells them nothing.
void wake_sleepers(const void* word);
/// The thread sleeps, and at the end of an execution will do so for ever: for oracles.
[[nodiscard]] bool asleep(unsigned thread) noexcept;
/// A choice of the scenario's own.
[[nodiscard]] unsigned choose(unsigned count);
/// The newest value of a shared word, for oracles: not a step, and no synchronisation.
[[nodiscard]] std::uint64_t newest(const void* address);
/// A line for the trace of a replay.
void note(const std::string& text);

}  // namespace ringmain::explore
