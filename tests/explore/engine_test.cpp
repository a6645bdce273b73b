// The explorer itself: a violation that is planted is found, and one word repeats it.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <iostream>

#include "explore/explored_memory.hpp"
#include "explore/explorer.hpp"
#include "support/catch.hpp"

namespace {

using namespace ringmain::explore;
using Word = ExploredMemory::Atomic<std::uint64_t>;

// One thread passes a value to another by a release store, which a mutation can weaken. A third may die while it holds
// a lock.
class Handover : public Scenario {
public:
    Handover() : Scenario({.preemptions = 3, .stale = 2}, 2) { share({memory_.data(), memory_.size()}); }

    void set_up() override { words()[0].store(7, std::memory_order_relaxed); }
    void begin() override {}
    void thread(unsigned index) override {
        if (index == 0) {
            words()[0].store(8, std::memory_order_relaxed);
            words()[1].store(1, std::memory_order_release);
        } else if (words()[1].load(std::memory_order_acquire) == 1) {
            require(words()[0].load(std::memory_order_relaxed) == 8, "the flag came before the value");
        }
    }
    void finish() override {
        require(words()[0].load(std::memory_order_relaxed) == 8, "the observer sees the last value");
    }
    [[nodiscard]] std::string name_of_location(const void* address) const override {
        return address == memory_.data() ? "value" : "flag";
    }

private:
    Word* words() { return reinterpret_cast<Word*>(memory_.data()); }
    alignas(8) std::array<std::byte, 16> memory_{};
};
const Registered handover{"engine.handover", [] { return std::make_unique<Handover>(); }};

// A lock that is taken and given back by threads that may die or stop in between; who proves a death takes it over.
class Lock : public Scenario {
public:
    explicit Lock(bool take_over)
        : Scenario({.preemptions = 2, .stale = 1, .deaths = 1, .mortal = 1, .steps_max = 200}, 2),
          take_over_(take_over) {
        share({memory_.data(), memory_.size()});
    }

    void begin() override {}
    void thread(unsigned index) override {
        std::uint64_t free = 0;
        while (!lock().compare_exchange_strong(free, index + 1, std::memory_order_acquire, std::memory_order_relaxed)) {
            if (take_over_ && free != 0 && proven_dead(static_cast<unsigned>(free - 1)) &&
                lock().compare_exchange_strong(free, index + 1, std::memory_order_acquire, std::memory_order_relaxed))
                break;
            free = 0;
            (void)give_way();
        }
        const std::uint64_t value = counter().load(std::memory_order_relaxed);
        counter().store(value + 1, std::memory_order_relaxed);
        lock().store(0, std::memory_order_release);
    }
    void finish() override {
        const std::uint64_t count = counter().load(std::memory_order_relaxed);
        require(count == 2 || (fell(0) && count == 1), "an increment was lost");
    }

private:
    Word& lock() { return reinterpret_cast<Word*>(memory_.data())[0]; }
    Word& counter() { return reinterpret_cast<Word*>(memory_.data())[1]; }
    alignas(8) std::array<std::byte, 16> memory_{};
    bool take_over_;
};
const Registered lock_taken_over{"engine.lock", [] { return std::make_unique<Lock>(true); }};
const Registered lock_left{"engine.lock_of_the_dead", [] { return std::make_unique<Lock>(false); }};

// Each of two threads stores, then looks for the other's store: one of them at least finds it.
class StoreBuffering : public Scenario {
public:
    explicit StoreBuffering(bool fences) : Scenario({.preemptions = 2, .stale = 2}, 2), fences_(fences) {
        share({memory_.data(), memory_.size()});
    }

    void begin() override { seen_ = {}; }
    void thread(unsigned index) override {
        Word& mine = words()[index];
        Word& other = words()[1 - index];
        if (fences_) {
            mine.store(1, std::memory_order_relaxed);
            ExploredMemory::fence(std::memory_order_seq_cst);
            seen_[index] = other.load(std::memory_order_relaxed);
        } else if (index == 0) {
            mine.store(1, std::memory_order_seq_cst);
            seen_[index] = other.load(std::memory_order_seq_cst);
        } else {
            (void)mine.exchange(1, std::memory_order_seq_cst);
            seen_[index] = other.load(std::memory_order_seq_cst);
        }
    }
    void finish() override { require(seen_[0] + seen_[1] != 0, "neither saw the other"); }

private:
    Word* words() { return reinterpret_cast<Word*>(memory_.data()); }
    alignas(8) std::array<std::byte, 16> memory_{};
    std::array<std::uint64_t, 2> seen_{};
    bool fences_;
};
const Registered buffers_fenced{"engine.buffers_fenced", [] { return std::make_unique<StoreBuffering>(true); }};
const Registered buffers_ordered{"engine.buffers_ordered", [] { return std::make_unique<StoreBuffering>(false); }};

const std::string kStore = "explore/engine_test.cpp:27:store";

bool mentions(const std::vector<std::string>& steps, const std::string& part) {
    return std::any_of(steps.begin(), steps.end(),
                       [&](const std::string& step) { return step.find(part) != std::string::npos; });
}

}  // namespace

TEST_CASE("Explorer: what holds is not violated, and all executions within the bounds are taken") {
    const Outcome outcome = explore_and_report("engine.handover");
    CHECK(outcome.violation.empty());
    CHECK(outcome.exhausted);
    CHECK(outcome.executions > 10);
}

TEST_CASE("Explorer: a weakened release is found, and its word repeats the execution") {
    for (const Weakening weakening : {Weakening::relaxed, Weakening::skip}) {
        Outcome outcome = explore("engine.handover", {}, {kStore, weakening});
        if (weakening == Weakening::skip) {
            CHECK_FALSE(outcome.violated());  // nothing is passed, nothing is wrong
            continue;
        }
        REQUIRE(outcome.violation == "the flag came before the value");
        const Replayed replayed = replay(outcome.replay);
        CHECK(replayed.violation == outcome.violation);
        CHECK(mentions(replayed.steps, "value  0x7 (relaxed)  [not the newest]"));
        CHECK(mentions(replayed.steps, "flag  = 0x1 (release)  [relaxed]"));
        // the same choices without the mutation violate nothing
        CHECK(replay(outcome.replay.substr(0, outcome.replay.find('@'))).violation != outcome.violation);
    }
}

TEST_CASE("Explorer: a violation that only random executions reach has a word as well") {
    const Outcome outcome = explore("engine.handover", {1, 100'000}, {kStore, Weakening::relaxed});
    REQUIRE(outcome.violated());
    CHECK(outcome.random_executions > 0);
    CHECK(replay(outcome.replay).violation == outcome.violation);
}

TEST_CASE("Explorer: who waits for the dead makes no progress, who proves the death does") {
    CHECK(explore_and_report("engine.lock").violation.empty());
    const Outcome left = explore("engine.lock_of_the_dead", {});
    CHECK(left.violation == "no progress: more than 200 steps");
    CHECK(mentions(replay(left.replay).steps, "dies"));
}

TEST_CASE("Explorer: a compare-exchange made of two steps is found") {
    const Outcome outcome =
        explore("engine.lock", {}, {"explore/engine_test.cpp:57:compare_exchange", Weakening::split});
    CHECK(outcome.violation == "an increment was lost");
}

TEST_CASE("Explorer: two who store and then look need the one order of seq_cst, acq_rel is not enough") {
    for (const std::string scenario : {"engine.buffers_fenced", "engine.buffers_ordered"}) {
        const Outcome outcome = explore(scenario, {});
        CHECK(outcome.violation.empty());
        CHECK(outcome.exhausted);
        unsigned weakened = 0;
        for (const Site& site : outcome.sites) {
            if (site.order != std::memory_order_seq_cst)
                continue;
            ++weakened;
            INFO(site.where);
            CHECK(explore(scenario, {}, {site.where, Weakening::acq_rel}).violation == "neither saw the other");
        }
        CHECK(weakened == (scenario == "engine.buffers_fenced" ? 1 : 4));
    }
}

TEST_CASE("Explorer: the sites that a scenario reaches are listed with what can be weakened there") {
    const Outcome outcome = explore("engine.handover", {});
    const auto site =
        std::find_if(outcome.sites.begin(), outcome.sites.end(), [](const Site& one) { return one.where == kStore; });
    REQUIRE(site != outcome.sites.end());
    CHECK(site->order == std::memory_order_release);
    std::vector<std::string> mutations;
    for (const Mutation& mutation : mutations_of(*site)) {
        mutations.push_back(mutation.text());
        CHECK(Mutation::parse(mutation.text()).text() == mutation.text());
    }
    CHECK(mutations == std::vector<std::string>{kStore + "=relaxed", kStore + "=skip"});
}

TEST_CASE("RINGMAIN_EXPLORE_REPLAY repeats the execution that it names, step by step") {
    const char* const wanted = std::getenv("RINGMAIN_EXPLORE_REPLAY");
    const Replayed replayed = replay(wanted != nullptr ? wanted : "engine.handover:0");
    if (wanted != nullptr) {
        for (const std::string& step : replayed.steps)
            std::cout << step << '\n';
        std::cout << (replayed.violation.empty() ? "nothing was violated" : replayed.violation) << std::endl;
    }
    CHECK_FALSE(replayed.steps.empty());
}
