// Attempts at records by the owner of a partition: counted before they begin, ended by whoever holds them or found by
// the next owner; and the same after the group was moved.
#include "work_table/attempts.hpp"

#include <optional>
#include <string_view>

#include "support/catch.hpp"
#include "support/hooked_memory.hpp"
#include "support/plain_work.hpp"

using namespace ringmain;
using namespace ringmain::test;
using namespace ringmain::work_table;

namespace {

constexpr std::uint32_t kMember = 5;  // its slot

/// A partition whose records were published, and whose owners come one after the other.
template <class M>
struct World : PlainWork<M> {
    using Base = PlainWork<M>;
    using Tenure = Attempts<M, LogLetters<M>>;

    explicit World(const WorkShape& what = {}, std::uint64_t records = 8)
        : Base(what), control_(&this->work().control()), words_(&this->work().word(0)) {
        this->publish_many(records);
        (void)move(what.log.first_offset);
    }

    /// Somebody takes the partition, or moves the group: another generation.
    std::uint32_t move(std::uint64_t committed) {
        group_table::PartitionWord word = this->host_groups.word(this->group.slot, 0);
        const std::uint32_t next = group_table::next_generation(word.generation);
        while (!this->host_groups.change_word(this->group.slot, 0, word, {committed, true, false, next, {}})) {
        }
        return next;
    }
    std::uint32_t take() { return move(committed()); }
    [[nodiscard]] std::uint64_t committed() const { return this->host_groups.word(this->group.slot, 0).committed; }
    [[nodiscard]] std::uint32_t now_generation() const {
        return this->host_groups.word(this->group.slot, 0).generation;
    }

    [[nodiscard]] WorkMemory<M> memory(std::uint32_t generation) const {
        const layout::WorkGeometry geometry{this->group.born, this->group.slot, 0, this->shape.window, generation, 0};
        return {control_, words_, geometry, this->groups, this->log};
    }
    [[nodiscard]] Tenure tenure(bool stops = false) {
        return {memory(now_generation()), this->shape.rules, stops, letters_of, kMember};
    }

    [[nodiscard]] std::uint64_t word_at(std::uint64_t offset) const { return memory(0).word_of(offset); }
    void set_word_at(std::uint64_t offset, std::uint64_t word) const {
        memory(0).word(offset).store(word, std::memory_order_release);
    }
    [[nodiscard]] bool is_finished(std::uint64_t offset, DoneReason how) const {
        return word_at(offset) == done_word(offset, how);
    }
    [[nodiscard]] layout::WorkControl<M>& shared() const { return *control_; }

    /// One attempt, which must be to be had, answered at once.
    std::uint32_t attempt(Tenure& by, std::uint64_t offset, bool success) {
        const TurnOf turn = by.look(offset, this->now());
        REQUIRE(turn.turn == Turn::ready);
        const auto lock = by.begin(offset, turn.word);
        REQUIRE(lock);
        REQUIRE((success ? by.succeed(offset, *lock) : by.fail(offset, *lock, this->now())));
        return count_of(*lock);
    }
    std::uint64_t begin(Tenure& by, std::uint64_t offset) {
        const auto lock = by.begin(offset, by.look(offset, this->now()).word);
        REQUIRE(lock);
        return *lock;
    }
    /// Time passes until the record can be had, or is finished.
    TurnOf look_later(Tenure& by, std::uint64_t offset) {
        TurnOf turn = by.look(offset, this->now());
        for (int i = 0; i < 100 && (turn.turn == Turn::waits || (turn.turn == Turn::condemned && turn.due)); ++i) {
            this->pass(until(*turn.due, this->now()));
            turn = by.look(offset, this->now());
        }
        return turn;
    }

    LogLetters<M> letters_of{*this, 0};

private:
    layout::WorkControl<M>* control_;
    typename M::template Atomic<std::uint64_t>* words_;
};

using Hooked = World<HookedMemory>;

}  // namespace

TEST_CASE("An attempt is written down before it begins, and a success finishes the record") {
    Hooked world;
    auto owner = world.tenure();
    const std::uint64_t lock = world.begin(owner, 2);
    CHECK(lock == locked_word(1, 0, world.now_generation(), kMember, 0));
    CHECK(world.word_at(2) == lock);
    CHECK(world.shared().frontier.load() == 3);
    CHECK(owner.succeed(2, lock));
    CHECK(world.is_finished(2, DoneReason::acked));
    CHECK_FALSE(owner.succeed(2, lock));
    CHECK(owner.look(2, world.now()).turn == Turn::finished);
}

TEST_CASE("A failure waits for the back-off, each time longer, and the last one becomes exactly one letter") {
    Hooked world;  // three attempts, 100 ms and 200 ms in between
    auto owner = world.tenure();
    CHECK(world.attempt(owner, 0, false) == 1);
    TurnOf turn = owner.look(0, world.now());
    CHECK(turn.turn == Turn::waits);
    CHECK(until(*turn.due, world.now()) == 100);
    world.pass(99);
    CHECK(owner.look(0, world.now()).turn == Turn::waits);
    world.pass(1);
    CHECK(world.attempt(owner, 0, false) == 2);
    CHECK(until(*owner.look(0, world.now()).due, world.now()) == 200);
    world.pass(200);
    CHECK(world.attempt(owner, 0, false) == 3);
    turn = owner.look(0, world.now());
    CHECK(turn.turn == Turn::finished);
    CHECK(turn.how == DoneReason::dead);
    REQUIRE(world.letter(0));
    CHECK(*world.letter(0) == WorkLetter{0, 0, 3, static_cast<std::uint32_t>(LetterReason::limit)});
    CHECK(world.letters_about(0) == 1);
    CHECK(world.shared().dead_lettered.load() == 1);
    CHECK(world.shared().redelivered.load() == 2);
}

TEST_CASE("A rejected record becomes a letter at its first attempt") {
    Hooked world;
    auto owner = world.tenure();
    const std::uint64_t lock = world.begin(owner, 1);
    CHECK(owner.reject(1, lock, world.now()));
    CHECK(owner.look(1, world.now()).how == DoneReason::dead);
    REQUIRE(world.letter(0));
    CHECK(world.letter(0)->reason == static_cast<std::uint32_t>(LetterReason::rejected));
}

TEST_CASE("An attempt that was not made is given back and does not count") {
    Hooked world;
    auto owner = world.tenure();
    CHECK(world.attempt(owner, 0, false) == 1);
    world.pass(100);
    CHECK(owner.give_back(0, world.begin(owner, 0), world.now()));
    CHECK(world.attempt(owner, 0, true) == 2);
    CHECK(owner.give_back(1, world.begin(owner, 1), world.now()));
    CHECK(world.attempt(owner, 1, true) == 1);
}

TEST_CASE("A successor finds an attempt that never ended: it counts, and is repeated after the back-off") {
    Hooked world;
    auto dead = world.tenure();
    (void)world.begin(dead, 0);
    world.take();
    auto owner = world.tenure();
    const TurnOf turn = owner.look(0, world.now());
    CHECK(turn.turn == Turn::waits);
    CHECK(turn.died);
    CHECK(turn.attempts == 1);
    CHECK(until(*turn.due, world.now()) == 100);
    CHECK(world.shared().returned.load() == 1);
    world.pass(100);
    CHECK_FALSE(owner.look(0, world.now()).died);
    CHECK(world.attempt(owner, 0, true) == 2);
}

TEST_CASE("A record that kills its handler is dead-lettered after as many deaths as it has attempts") {
    Hooked world;
    for (std::uint32_t death = 1; death <= 3; ++death) {
        auto victim = world.tenure();
        const TurnOf turn = world.look_later(victim, 0);
        REQUIRE(turn.turn == Turn::ready);
        const auto lock = victim.begin(0, turn.word);
        REQUIRE(lock);
        CHECK(count_of(*lock) == death);
        world.take();
    }
    auto owner = world.tenure();
    const TurnOf turn = world.look_later(owner, 0);
    CHECK(turn.turn == Turn::finished);
    CHECK(turn.how == DoneReason::dead);
    REQUIRE(world.letter(0));
    CHECK(*world.letter(0) == WorkLetter{0, 0, 3, static_cast<std::uint32_t>(LetterReason::died)});
    CHECK(world.letters_about(0) == 1);
}

TEST_CASE(
    "The answer of a member that lost the partition counts until the next owner comes to the record, and not after") {
    Hooked world;
    auto late = world.tenure();
    const std::uint64_t first = world.begin(late, 0);
    const std::uint64_t second = world.begin(late, 1);
    world.take();
    auto owner = world.tenure();
    CHECK(late.succeed(0, first));
    CHECK(owner.look(0, world.now()).turn == Turn::finished);
    CHECK(owner.look(1, world.now()).turn == Turn::waits);
    CHECK_FALSE(late.succeed(1, second));
    CHECK_FALSE(late.fail(1, second, world.now()));
    CHECK_FALSE(late.reject(1, second, world.now()));
    CHECK(late.look(1, world.now()).turn == Turn::fenced);
}

TEST_CASE("Who loses the partition between counting an attempt and beginning it takes the count back") {
    for (const std::string_view point : {"attempt.seen", "attempt.locked"}) {
        Hooked world;
        auto evicted = world.tenure();
        const TurnOf turn = evicted.look(0, world.now());
        {
            const HookedMemory::Scope scope(HookedMemory::once_at(point, [&] { world.take(); }));
            CHECK_FALSE(evicted.begin(0, turn.word));
        }
        CHECK(world.word_at(0) == 0);
        CHECK(evicted.look(0, world.now()).turn == Turn::fenced);
        auto owner = world.tenure();
        CHECK(world.attempt(owner, 0, true) == 1);
    }
}

TEST_CASE("Without dead letters an exhausted record is skipped and counted, or stays and stops its group") {
    const bool stops = GENERATE(false, true);
    WorkShape shape;
    shape.rules.exhausted = EndOf::skip;
    Hooked world(shape);
    auto owner = world.tenure(stops);
    for (int i = 0; i < 3; ++i) {
        REQUIRE(world.look_later(owner, 0).turn == Turn::ready);
        (void)world.attempt(owner, 0, false);
    }
    world.pass(1'000'000);
    TurnOf turn = owner.look(0, world.now());
    if (stops) {
        CHECK(turn.turn == Turn::condemned);
        CHECK_FALSE(turn.due);
        CHECK(turn.attempts == 3);
        world.take();
        auto next = world.tenure(stops);
        CHECK(next.look(0, world.now()).turn == Turn::condemned);
    } else {
        CHECK(turn.how == DoneReason::skipped);
        CHECK(world.shared().skipped.load() == 1);
    }
    CHECK(world.letters_end() == 0);
}

TEST_CASE("A letter that is refused is tried again, and the record is neither attempted nor dropped meanwhile") {
    Hooked world;
    auto owner = world.tenure();
    const std::uint64_t lock = world.begin(owner, 0);
    world.board->refuses.store(1);
    CHECK(owner.reject(0, lock, world.now()));
    for (int i = 0; i < 5; ++i) {
        const TurnOf turn = owner.look(0, world.now());
        CHECK(turn.turn == Turn::condemned);
        REQUIRE(turn.due);
        world.pass(until(*turn.due, world.now()));
    }
    CHECK(world.letters_about(0) == 0);
    CHECK(world.shared().letters_refused.load() == 5);
    world.board->refuses.store(0);
    CHECK(world.look_later(owner, 0).how == DoneReason::dead);
    CHECK(world.letters_about(0) == 1);
}

TEST_CASE("A word that says nothing which can be is never attempted more often than there are attempts") {
    Hooked world;
    world.set_word_at(0, ready_word(9, 0, world.now(), 0));
    auto owner = world.tenure();
    CHECK(owner.look(0, world.now()).how == DoneReason::dead);
}

TEST_CASE("What retention took is given up once, and a later answer for it is refused") {
    Hooked world;
    auto owner = world.tenure();
    const std::uint64_t lock = world.begin(owner, 0);
    CHECK(owner.give_up(0, DoneReason::lost, world.now()) == GivenUp::done);
    CHECK(owner.give_up(0, DoneReason::lost, world.now()) == GivenUp::finished);
    CHECK(world.shared().lost.load() == 1);
    CHECK_FALSE(owner.succeed(0, lock));
    world.take();
    CHECK(owner.give_up(1, DoneReason::lost, world.now()) == GivenUp::finished);  // not its own any more
    CHECK(world.word_at(1) == 0);
}

TEST_CASE(
    "What retention took while its letter was announced is not lost: it has that letter, or gets one, and no second") {
    for (const char* const point : {"letter.intent", "letter.committed"}) {
        Hooked world;
        auto before = world.tenure();
        REQUIRE(before.reject(0, world.begin(before, 0), world.now()));
        const HookedMemory::Scope hook(HookedMemory::once_at(point, [&] {
            world.take();
            auto owner = world.tenure();
            CHECK(owner.give_up(0, DoneReason::lost, world.now()) == GivenUp::finished);
        }));
        (void)before.look(0, world.now());
        CHECK(world.is_finished(0, DoneReason::dead));
        CHECK(world.letters_about(0) == 1);
        CHECK(world.shared().lost.load() == 0);
    }
}

TEST_CASE("Nothing is decided about an announced letter while its log is damaged, and there is one letter afterwards") {
    for (const char* const point : {"letter.intent", "letter.committed"}) {
        Hooked world;
        auto before = world.tenure();
        REQUIRE(before.reject(0, world.begin(before, 0), world.now()));
        const HookedMemory::Scope hook(HookedMemory::once_at(point, [&] {
            world.take();
            auto owner = world.tenure();
            world.board->damaged.store(1);
            const std::uint64_t announced = world.word_at(0);
            CHECK(owner.give_up(0, DoneReason::lost, world.now()) == GivenUp::kept);
            const TurnOf turn = owner.look(0, world.now());
            CHECK(turn.turn == Turn::condemned);
            CHECK(turn.due);
            owner.take_over(0, world.now());
            CHECK(world.word_at(0) == announced);
            CHECK(world.shared().letters_refused.load() == 2);
            world.board->damaged.store(0);
        }));
        (void)before.look(0, world.now());
        auto owner = world.tenure();
        CHECK(world.look_later(owner, 0).how == DoneReason::dead);
        CHECK(world.letters_about(0) == 1);
        CHECK(world.shared().lost.load() == 0);
    }
}

// --- moving the group ---

TEST_CASE("After the group went back its finished records are attempted anew, from the first attempt on") {
    Hooked world;
    auto before = world.tenure();
    for (std::uint64_t offset = 0; offset < 4; ++offset)
        (void)world.attempt(before, offset, offset != 3);
    (void)world.begin(before, 4);
    world.memory(0).mark_rewound(group_table::next_generation(world.now_generation()));
    (void)world.move(1);
    (void)world.take();
    auto owner = world.tenure();
    owner.take_over(1, world.now());
    CHECK(world.shared().rewound.load() == 0);
    CHECK(world.is_finished(0, DoneReason::acked));  // before the position
    for (std::uint64_t offset = 1; offset < 6; ++offset)
        CHECK(world.attempt(owner, offset, true) == 1);
}

TEST_CASE("A group that was not moved keeps what its words say, whoever takes over") {
    Hooked world;
    auto before = world.tenure();
    (void)world.attempt(before, 0, true);
    (void)world.attempt(before, 1, false);
    world.take();
    auto owner = world.tenure();
    owner.take_over(0, world.now());
    CHECK(owner.look(0, world.now()).turn == Turn::finished);
    CHECK(owner.look(1, world.now()).attempts == 1);
}

TEST_CASE(
    "The mark of a move that is still to come stays until it has come; one that never comes repeats records at worst") {
    Hooked world;
    auto before = world.tenure();
    (void)world.attempt(before, 0, true);
    const std::uint32_t coming = group_table::next_generation(group_table::next_generation(world.now_generation()));
    world.take();
    world.memory(0).mark_rewound(coming);  // the mover has seen the word of now, and has not exchanged it yet
    auto early = world.tenure();
    early.take_over(0, world.now());
    CHECK(world.shared().rewound.load() == coming);
    CHECK(world.attempt(early, 0, true) == 1);
    CHECK(world.move(0) == coming);
    world.take();
    auto owner = world.tenure();
    owner.take_over(0, world.now());
    CHECK(world.shared().rewound.load() == 0);
    CHECK(world.attempt(owner, 0, true) == 1);
}

TEST_CASE("Of two movers neither takes the other's mark away, whichever comes first") {
    Hooked world;
    const std::uint32_t seen = world.now_generation();
    world.memory(0).mark_rewound(seen + 3);
    world.memory(0).mark_rewound(seen + 1);
    CHECK(world.shared().rewound.load() == seen + 3);
    world.memory(0).clear_rewound(seen + 1);  // by who saw an earlier one
    CHECK(world.shared().rewound.load() == seen + 3);
    Hooked wrapping;
    wrapping.memory(0).mark_rewound(0xffffffff);
    wrapping.memory(0).mark_rewound(1);  // generations wrap, past 0
    CHECK(wrapping.shared().rewound.load() == 1);
}

TEST_CASE("What a group leaves behind unfinished when it goes forward is free for the next lap") {
    WorkShape shape;
    shape.log.records = 64;
    Hooked world(shape, 40);  // a window of 16
    auto before = world.tenure();
    (void)world.attempt(before, 3, false);
    const std::uint64_t lock = world.begin(before, 4);
    (void)before.reject(4, lock, world.now());
    world.memory(0).mark_rewound(group_table::next_generation(world.now_generation()));
    (void)world.move(20);
    world.take();
    auto owner = world.tenure();
    owner.take_over(20, world.now());
    CHECK(world.word_at(20) == done_word(4, DoneReason::lost));
    CHECK(state_of(world.word_at(3)) == WorkState::done);
    CHECK(world.attempt(owner, 20, true) == 1);
}

TEST_CASE("An announced letter is seen to before the group goes back over its record") {
    const bool committed = GENERATE(false, true);
    Hooked world;
    {
        auto dead = world.tenure();
        const std::uint64_t lock = world.begin(dead, 2);
        (void)dead.reject(2, lock, world.now());
        const auto gone = [&] { world.take(); };
        // it is fenced in the midst of its letter, and goes no further than its own words let it
        const HookedMemory::Scope scope(HookedMemory::once_at(committed ? "letter.committed" : "letter.intent", gone));
        (void)dead.look(2, world.now());
    }
    const std::uint64_t letters = world.letters_about(2);
    CHECK(letters == 1);
    world.memory(0).mark_rewound(world.now_generation());
    auto owner = world.tenure();
    owner.take_over(0, world.now());
    CHECK(world.attempt(owner, 2, true) == 1);
    CHECK(world.letters_about(2) == 1);
}

TEST_CASE("Who loses the partition while it takes over stops there, and changes nothing of the next owner's") {
    Hooked world;
    auto before = world.tenure();
    (void)world.attempt(before, 0, true);
    (void)world.attempt(before, 1, true);
    world.memory(0).mark_rewound(group_table::next_generation(world.now_generation()));
    (void)world.move(0);
    auto late = world.tenure();
    {
        const HookedMemory::Scope scope(HookedMemory::once_at("takeover.seen", [&] {
            world.take();
            auto owner = world.tenure();
            owner.take_over(0, world.now());
            CHECK(world.attempt(owner, 0, true) == 1);  // the very word that the late one has seen
        }));
        late.take_over(0, world.now());
    }
    CHECK(world.is_finished(0, DoneReason::acked));
    CHECK(state_of(world.word_at(1)) == WorkState::ready);
}

TEST_CASE("Who loses the partition over the last word that it makes free leaves the mark to the next owner") {
    Hooked world;
    auto before = world.tenure();
    (void)world.attempt(before, 0, true);
    world.memory(0).mark_rewound(group_table::next_generation(world.now_generation()));
    (void)world.move(0);
    auto late = world.tenure();
    {
        const HookedMemory::Scope scope(HookedMemory::once_at("takeover.seen", [&] { world.take(); }));
        late.take_over(0, world.now());  // puts back what it changed
    }
    CHECK(world.is_finished(0, DoneReason::acked));
    auto owner = world.tenure();
    owner.take_over(0, world.now());
    CHECK(world.attempt(owner, 0, true) == 1);
}

TEST_CASE("Who loses the partition while it takes over takes no later owner's word for its own") {
    Hooked world;
    const auto move_back = [&] {
        world.memory(0).mark_rewound(group_table::next_generation(world.now_generation()));
        (void)world.move(0);
    };
    auto before = world.tenure();
    (void)world.attempt(before, 0, true);
    move_back();
    auto late = world.tenure();
    {
        const HookedMemory::Scope scope(HookedMemory::once_at("takeover.changed", [&] {
            world.take();
            auto next = world.tenure();
            next.take_over(0, world.now());
            CHECK(world.attempt(next, 0, true) == 1);
            move_back();
            auto last = world.tenure();
            last.take_over(0, world.now());  // in the same millisecond
        }));
        late.take_over(0, world.now());
    }
    auto owner = world.tenure();
    CHECK(world.attempt(owner, 0, true) == 1);
}

// --- dying anywhere ---

namespace {

/// Attempts record 0 as often as it may be, failing; then record 1, succeeding. Allocates nothing: it can be left
/// anywhere.
void work_off(World<DyingMemory>& world, bool moved) {
    auto owner = world.tenure();
    if (moved)
        owner.take_over(world.committed(), world.now());
    for (int i = 0; i < 100; ++i) {
        const TurnOf turn = owner.look(0, world.now());
        if (turn.turn == Turn::finished)
            break;
        if (turn.turn == Turn::ready) {
            if (const auto lock = owner.begin(0, turn.word))
                owner.fail(0, *lock, world.now());
        } else if (turn.due) {
            world.pass(until(*turn.due, world.now()));
        }
    }
    const TurnOf turn = owner.look(1, world.now());
    if (turn.turn != Turn::ready)
        return;
    if (const auto lock = owner.begin(1, turn.word))
        owner.succeed(1, *lock);
}

}  // namespace

TEST_CASE("Whoever dies at whatever point, twice, leaves a record with exactly one letter, or one that is finished") {
    const std::vector<std::string_view> points = {
        "takeover.seen",    "takeover.changed",   "takeover.tidied",   "attempt.seen",  "attempt.locked",
        "attempt.ended",    "attempt.taken.back", "attempt.preparing", "letter.ticket", "letter.intent",
        "letter.committed", "finish.closed",      "finish.taken"};
    std::size_t deaths = 0;
    for (const std::string_view first : points) {
        for (const std::string_view second : points) {
            World<DyingMemory> world;
            for (const std::string_view point : {first, second}) {
                deaths += DyingMemory::dies_at(point, [&] { work_off(world, true); }) ? 1 : 0;
                world.take();
                world.pass(5'000);
            }
            for (int i = 0; i < 10 && !(world.is_finished(0, DoneReason::dead) && is_done(world.word_at(1), 1)); ++i) {
                world.take();
                world.pass(5'000);
                work_off(world, true);
            }
            INFO("dies at " << first << ", then at " << second);
            CHECK(world.is_finished(0, DoneReason::dead));
            CHECK(world.letters_about(0) == 1);
            CHECK(is_done(world.word_at(1), 1));
        }
    }
    CHECK(deaths > points.size());
}
