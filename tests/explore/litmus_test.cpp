// The memory model of the explorer against the classical litmus tests: the exact set of outcomes of each.
#include <array>
#include <set>

#include "explore/engine.hpp"
#include "explore/explored_memory.hpp"
#include "explore/explorer.hpp"
#include "support/catch.hpp"

namespace {

using namespace ringmain::explore;
using M = ExploredMemory;
using Word = M::Atomic<std::uint64_t>;
constexpr auto kRelaxed = std::memory_order_relaxed;
constexpr auto kAcquire = std::memory_order_acquire;
constexpr auto kRelease = std::memory_order_release;
constexpr auto kAcqRel = std::memory_order_acq_rel;
constexpr auto kSeqCst = std::memory_order_seq_cst;

// Registers that threads fill; what they hold in the end is the outcome.
using Registers = std::array<std::uint64_t, 4>;

struct alignas(16) Shared {
    Word x;
    Word y;
    ringmain::platform::Word16<M> pair;
};

// Outcome registers as text, e.g. "0 1"; threads may add to them what memory holds in the end.
class Litmus : public Scenario {
public:
    using Body = std::function<void(Shared&, Registers&)>;

    Litmus(std::vector<Body> bodies, unsigned registers, Body at_end = {})
        : Scenario({.preemptions = 8, .stale = 8}, static_cast<unsigned>(bodies.size())),
          bodies_(std::move(bodies)),
          registers_(registers),
          at_end_(std::move(at_end)) {
        share({memory_.data(), memory_.size()});
    }

    void begin() override { seen_ = {}; }
    void thread(unsigned index) override { bodies_[index](shared(), seen_); }
    void finish() override {
        if (at_end_)
            at_end_(shared(), seen_);
        std::string text;
        for (unsigned i = 0; i < registers_; ++i)
            text += (i == 0 ? "" : " ") + std::to_string(seen_[i]);
        outcomes.insert(text);
    }

    std::set<std::string> outcomes;

private:
    Shared& shared() { return *reinterpret_cast<Shared*>(memory_.data()); }

    alignas(16) std::array<std::byte, sizeof(Shared)> memory_{};
    std::vector<Body> bodies_;
    unsigned registers_;
    Body at_end_;
    Registers seen_{};
};

std::set<std::string> outcomes_of(std::vector<Litmus::Body> bodies, unsigned registers, Litmus::Body at_end = {}) {
    Litmus litmus(std::move(bodies), registers, std::move(at_end));
    Engine engine(litmus);
    engine.choices().enumerate();
    do {
        REQUIRE(engine.run());
    } while (engine.choices().advance());
    return litmus.outcomes;
}

using Outcomes = std::set<std::string>;

Outcomes store_buffering(std::memory_order store, std::memory_order load, bool fences) {
    return outcomes_of({[=](Shared& s, Registers& r) {
                            s.x.store(1, store);
                            if (fences)
                                M::fence(kSeqCst);
                            r[0] = s.y.load(load);
                        },
                        [=](Shared& s, Registers& r) {
                            s.y.store(1, store);
                            if (fences)
                                M::fence(kSeqCst);
                            r[1] = s.x.load(load);
                        }},
                       2);
}

Outcomes message_passing(std::memory_order store, std::memory_order load, bool fences) {
    return outcomes_of({[=](Shared& s, Registers&) {
                            s.x.store(1, kRelaxed);
                            if (fences)
                                M::fence(kRelease);
                            s.y.store(1, store);
                        },
                        [=](Shared& s, Registers& r) {
                            r[0] = s.y.load(load);
                            if (fences)
                                M::fence(kAcquire);
                            r[1] = s.x.load(kRelaxed);
                        }},
                       2);
}

// Two writers, two readers that look at them in opposite order: may they disagree?
Outcomes independent_reads(bool fences) {
    const auto reader = [=](Word& first, Word& second, std::uint64_t& a, std::uint64_t& b) {
        a = first.load(kAcquire);
        if (fences)
            M::fence(kSeqCst);
        b = second.load(kAcquire);
    };
    return outcomes_of(
        {[](Shared& s, Registers&) { s.x.store(1, kRelease); }, [](Shared& s, Registers&) { s.y.store(1, kRelease); },
         [=](Shared& s, Registers& r) { reader(s.x, s.y, r[0], r[1]); },
         [=](Shared& s, Registers& r) { reader(s.y, s.x, r[2], r[3]); }},
        4);
}

}  // namespace

TEST_CASE("Litmus: store buffering shows both old values unless seq_cst forbids it") {
    const Outcomes all{"0 0", "0 1", "1 0", "1 1"};
    const Outcomes ordered{"0 1", "1 0", "1 1"};
    CHECK(store_buffering(kRelaxed, kRelaxed, false) == all);
    CHECK(store_buffering(kRelease, kAcquire, false) == all);
    CHECK(store_buffering(kRelaxed, kRelaxed, true) == ordered);
    CHECK(store_buffering(kSeqCst, kSeqCst, false) == ordered);
    CHECK(store_buffering(kRelease, kSeqCst, false) == all);
}

TEST_CASE("Litmus: a barrier in every thread forbids it for one who has none of his own") {
    const auto pays = [](auto barrier) {
        return outcomes_of({[=](Shared& s, Registers& r) {
                                s.x.store(1, kRelaxed);
                                barrier();
                                r[0] = s.y.load(kRelaxed);
                            },
                            [](Shared& s, Registers& r) {
                                s.y.store(1, kRelaxed);
                                r[1] = s.x.load(kRelaxed);
                            }},
                           2);
    };
    CHECK(pays([] { barrier_everywhere(); }) == Outcomes{"0 1", "1 0", "1 1"});
    CHECK(pays([] { M::fence(kSeqCst); }) == Outcomes{"0 0", "0 1", "1 0", "1 1"});
}
TEST_CASE("Litmus: message passing needs a release and an acquire, as orders or as fences") {
    const Outcomes all{"0 0", "0 1", "1 0", "1 1"};
    const Outcomes passed{"0 0", "0 1", "1 1"};
    CHECK(message_passing(kRelaxed, kRelaxed, false) == all);
    CHECK(message_passing(kRelease, kRelaxed, false) == all);
    CHECK(message_passing(kRelaxed, kAcquire, false) == all);
    CHECK(message_passing(kRelease, kAcquire, false) == passed);
    CHECK(message_passing(kRelaxed, kRelaxed, true) == passed);
}

TEST_CASE("Litmus: load buffering is not produced") {
    CHECK(outcomes_of({[](Shared& s, Registers& r) {
                           r[0] = s.x.load(kRelaxed);
                           s.y.store(1, kRelaxed);
                       },
                       [](Shared& s, Registers& r) {
                           r[1] = s.y.load(kRelaxed);
                           s.x.store(1, kRelaxed);
                       }},
                      2) == Outcomes{"0 0", "0 1", "1 0"});
}

TEST_CASE("Litmus: a location's values are seen in one order by everybody") {
    // a reader never goes back
    CHECK(outcomes_of({[](Shared& s, Registers&) {
                           s.x.store(1, kRelaxed);
                           s.x.store(2, kRelaxed);
                       },
                       [](Shared& s, Registers& r) {
                           r[0] = s.x.load(kRelaxed);
                           r[1] = s.x.load(kRelaxed);
                       }},
                      2) == Outcomes{"0 0", "0 1", "0 2", "1 1", "1 2", "2 2"});
    // nor does a writer behind its own store
    CHECK(outcomes_of({[](Shared& s, Registers& r) {
                           s.x.store(1, kRelaxed);
                           r[0] = s.x.load(kRelaxed);
                       },
                       [](Shared& s, Registers&) { s.x.store(2, kRelaxed); }},
                      1) == Outcomes{"1", "2"});
}

TEST_CASE("Litmus: two writers of two words may each come last in one of them, in either order") {
    const auto last = [](Shared& s, Registers& r) {
        r[0] = s.x.load(kRelaxed);
        r[1] = s.y.load(kRelaxed);
    };
    const auto writers = [](bool fences) {
        return std::vector<Litmus::Body>{[=](Shared& s, Registers&) {
                                             s.x.store(1, kRelaxed);
                                             if (fences)
                                                 M::fence(kSeqCst);
                                             s.y.store(2, kRelaxed);
                                         },
                                         [=](Shared& s, Registers&) {
                                             s.y.store(1, kRelaxed);
                                             if (fences)
                                                 M::fence(kSeqCst);
                                             s.x.store(2, kRelaxed);
                                         }};
    };
    CHECK(outcomes_of(writers(false), 2, last) == Outcomes{"1 1", "1 2", "2 1", "2 2"});
    CHECK(outcomes_of(writers(true), 2, last) == Outcomes{"1 2", "2 1", "2 2"});
}

TEST_CASE("Litmus: a release sequence goes on through read-modify-writes and ends at a store") {
    const auto through = [](const Litmus::Body& middle) {
        return outcomes_of({[](Shared& s, Registers&) {
                                s.x.store(1, kRelaxed);
                                s.y.store(1, kRelease);
                            },
                            middle,
                            [](Shared& s, Registers& r) {
                                r[0] = s.y.load(kAcquire);
                                r[1] = s.x.load(kRelaxed);
                            }},
                           2);
    };
    CHECK(through([](Shared& s, Registers&) { (void)s.y.fetch_add(1, kRelaxed); }) ==
          Outcomes{"0 0", "0 1", "1 0", "1 1", "2 1"});
    CHECK(through([](Shared& s, Registers&) {
              std::uint64_t one = 1;
              (void)s.y.compare_exchange_strong(one, 2, kRelaxed, kRelaxed);
          }) == Outcomes{"0 0", "0 1", "1 1", "2 1"});
    CHECK(through([](Shared& s, Registers&) { s.y.store(2, kRelaxed); }) ==
          Outcomes{"0 0", "0 1", "1 1", "2 0", "2 1"});
}

TEST_CASE("Litmus: a compare-exchange that fails may look at an old value, one that holds follows what it saw") {
    CHECK(outcomes_of({[](Shared& s, Registers&) { s.x.store(1, kRelaxed); },
                       [](Shared& s, Registers& r) {
                           std::uint64_t seven = 7;
                           (void)s.x.compare_exchange_strong(seven, 8, kAcqRel, kAcquire);
                           r[0] = seven;
                           std::uint64_t zero = 0;
                           r[1] = s.x.compare_exchange_strong(zero, 2, kAcqRel, kAcquire) ? 1 : 0;
                       }},
                      3, [](Shared& s, Registers& r) { r[2] = s.x.load(kRelaxed); }) ==
          Outcomes{"0 0 1", "0 1 1", "1 0 1"});
    // of two that want the same, one holds
    const auto taker = [](unsigned index) {
        return [=](Shared& s, Registers& r) {
            std::uint64_t zero = 0;
            r[index] = s.x.compare_exchange_strong(zero, index + 1, kRelaxed, kRelaxed) ? 1 : 0;
        };
    };
    CHECK(outcomes_of({taker(0), taker(1)}, 2) == Outcomes{"0 1", "1 0"});
}

TEST_CASE("Litmus: independent readers may disagree under acquire, not with seq_cst fences") {
    const Outcomes weak = independent_reads(false);
    CHECK(weak.size() == 16);
    CHECK(weak.contains("1 0 1 0"));
    const Outcomes fenced = independent_reads(true);
    CHECK(fenced.size() == 15);
    CHECK_FALSE(fenced.contains("1 0 1 0"));
}

TEST_CASE("Litmus: a store may be seen, and passed on without an order, before the fence behind it comes") {
    CHECK(outcomes_of({[](Shared& s, Registers&) {
                           s.x.store(1, kRelaxed);
                           M::fence(kSeqCst);
                       },
                       [](Shared& s, Registers& r) {
                           r[0] = s.x.load(kRelaxed);
                           s.y.store(1, kRelaxed);
                       },
                       [](Shared& s, Registers& r) {
                           r[1] = s.y.load(kRelaxed);
                           M::fence(kSeqCst);
                           r[2] = s.x.load(kRelaxed);
                       }},
                      3) == Outcomes{"0 0 0", "0 0 1", "0 1 0", "0 1 1", "1 0 0", "1 0 1", "1 1 0", "1 1 1"});
}

TEST_CASE("Litmus: 16 bytes change at once") {
    const auto add = [](Shared& s, Registers&) {
        ringmain::platform::Halves seen{0, 0};
        while (!M::cas16(s.pair, seen, {seen.low + 1, seen.high + 1})) {
        }
    };
    const auto in_end = [](Shared& s, Registers& r) {
        r[0] = s.pair.low.load(kRelaxed);
        r[1] = s.pair.high.load(kRelaxed);
    };
    CHECK(outcomes_of({add, add}, 2, in_end) == Outcomes{"2 2"});
    // who has acquired one half has the other
    CHECK(outcomes_of({add,
                       [](Shared& s, Registers& r) {
                           r[0] = s.pair.low.load(kAcquire);
                           r[1] = s.pair.high.load(kRelaxed);
                       }},
                      2) == Outcomes{"0 0", "0 1", "1 1"});
}
