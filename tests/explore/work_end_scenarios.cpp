// Scenarios of how records end: dead letters, caps on what is in flight, resets, and attempts that are counted by
// tenure.
#include "explore/work_stage.hpp"

namespace ringmain::explore {

namespace {

using work_table::Answer;
using work_table::Answered;

[[nodiscard]] QueueShape with_letters(std::uint32_t delivery_limit) noexcept {
    QueueShape shape{.held = 1, .letters = true};
    shape.rules.delivery_limit = delivery_limit;
    return shape;
}

// The last delivery fails and its holder writes the letter, while others find the lock over, or the letter late.
class LetterByTwo : public QueueStage {
public:
    explicit LetterByTwo(const Bounds& bounds) : QueueStage(with_letters(1), bounds, 2) {}
    void thread(unsigned index) override {
        Worker worker(*this, index);
        if (index == 0) {
            if (choose(2) == 0) {
                (void)worker.reject(first_hands_[0]);
            } else {
                (void)worker.nack(first_hands_[0]);
            }
            return;
        }
        for (unsigned round = 0; round < 3; ++round) {
            pass_a_lock();
            require(worker.acquire(1) == 0, "a record is delivered beyond its limit");
        }
    }
    void finish() override {
        QueueStage::finish();
        require(letters_about(0) == 1, "a record that used its deliveries up has no letter");
    }
};

// A reader of the dead letters closes tickets while two write the letter of one record, where one may die.
class LetterClosed : public QueueStage {
public:
    LetterClosed() : QueueStage(with_letters(1), {.preemptions = 2, .stale = 1, .deaths = 1, .mortal = 1}, 3) {}
    void thread(unsigned index) override {
        Worker worker(*this, index);
        if (index == 0) {
            (void)worker.reject(first_hands_[0]);
        } else if (index == 1) {
            pass_a_lock();
            require(worker.acquire(1) == 0, "a record is delivered beyond its limit");
        } else {
            for (std::uint64_t ticket = 0; ticket < 2; ++ticket)
                (void)worker.letters().close(ticket);
        }
    }
    void finish() override {
        QueueStage::finish();
        require(letters_about(0) == 1, "a record that used its deliveries up has no letter");
    }
};

// Three workers share a cap of two: together they never hold more, and the share of one that fell comes back.
class Caps : public QueueStage {
public:
    static constexpr std::uint32_t kCap = 2;
    Caps() : QueueStage({.workers = 4}, {.preemptions = 3, .stale = 2, .deaths = 1, .stops = 1, .mortal = 1}, 3) {}
    void begin() override {
        QueueStage::begin();
        granted_ = {};
    }
    void thread(unsigned index) override {
        const std::uint64_t deadline = now_ + shape_.rules.lock_ms;
        for (unsigned round = 0; round < 2; ++round) {
            const std::uint32_t wanted = round == 0 && index == 2 ? 2 : 1;
            const std::uint32_t got = workers_.announce(index, wanted, kCap, deadline, now_);
            granted_[index] += got;
            require(granted_[0] + granted_[1] + granted_[2] <= kCap, "more is in flight than the cap");
            (void)workers_.owner(index);  // for a moment
            granted_[index] -= got;
            if (got != 0)
                workers_.settle(index, got);
        }
    }
    // The locks of those who fell are over: everything is to be had, and no longer counted by whoever cleans up.
    void finish() override {
        pass_a_lock();
        const std::uint32_t last = shape_.workers - 1;
        const auto announce = [&] { return workers_.announce(last, kCap, kCap, now_ + shape_.rules.lock_ms, now_); };
        require(announce() == kCap, "a share of the fallen is counted for ever");
        workers_.settle(last, kCap);
        now_ = kNow;
        if (proven_dead(0) && workers_.free(0, client_of(0)))
            require(announce() == kCap, "a share of the dead is counted after its slot was freed");
        for (std::uint32_t slot = 0; slot < threads(); ++slot)
            require(fell(slot) || workers_.slot(slot).held.load(std::memory_order_relaxed) == 0,
                    "a share is left over");
    }

private:
    std::array<std::uint32_t, 3> granted_{};
};

// A queue is reset while a holder acks or rejects: what it says counts before, and reaches nobody's record after; no
// letter is written any more once the old words are retired.
class ResetUnderHolder : public QueueStage {
public:
    ResetUnderHolder(unsigned held, const Bounds& bounds) : QueueStage(shape_of(held), bounds, 3) {}
    void set_up() override {
        QueueStage::set_up();
        first_generation_ = generation_;
    }
    void begin() override {
        generation_ = first_generation_;
        QueueStage::begin();
        letters_when_retired_ = kNotYet;
        moved_ = false;
    }
    void thread(unsigned index) override {
        if (index == 0) {
            answer();
        } else if (index == 1) {
            reset();
        } else {
            take_anew();
        }
    }
    void finish() override {
        if (letters_when_retired_ != kNotYet)
            require(letters_about(0) == letters_when_retired_, "a letter is written after the reset");
        const std::uint32_t generation = groups_.word(0, 0).generation;
        if (generation == first_generation_)
            return;
        generation_ = generation;
        if (letters_when_retired_ == kNotYet)
            retire();
    }

private:
    static constexpr unsigned kNotYet = ~0U;

    [[nodiscard]] static QueueShape shape_of(unsigned held) noexcept {
        QueueShape shape = with_letters(2);
        shape.held = held;
        return shape;
    }

    void answer() {
        Worker worker(*this, 0, first_generation_);
        Hand hand = first_hands_[0];
        if (shape_.held == 0) {
            if (worker.acquire(1) == 0)
                return;
            hand = worker.records.held[0];
        }
        const bool before = moved_;
        const Answered answered = choose(2) == 0 ? worker.ack(hand) : worker.reject(hand);
        require(!before || answered.answer == Answer::fenced, "an answer after the reset is told to count");
    }
    void reset() {
        group_table::PartitionWord word = groups_.word(0, 0);
        while (
            !groups_.change_word(0, 0, word, {0, true, word.gates, first_generation_ + 1, group_table::kQueueOwner})) {
        }
        moved_ = true;
        retire();
    }
    void retire() {
        Worker worker(*this, 1, first_generation_);
        (void)work_table::retire(work(first_generation_), worker.letters());
        if (letters_when_retired_ == kNotYet)
            letters_when_retired_ = letters_now();
    }
    // Letters whose cell says that they are committed: only the first two tickets can be.
    [[nodiscard]] unsigned letters_now() const {
        unsigned count = 0;
        for (std::uint64_t ticket = 0; ticket < 4; ++ticket) {
            const std::uint64_t word = newest(&letters_.cell(ticket).word);
            count += word == partition_log::cell_word(ticket, partition_log::CellState::committed) ? 1 : 0;
        }
        return count;
    }
    void take_anew() {
        const std::uint32_t generation = groups_.word(0, 0).generation;
        if (generation == first_generation_)
            return;
        Worker worker(*this, 2, generation);
        require(worker.acquire(1) == 1, "after a reset a record is not to be had");
        require(work(generation)
                    .change(0, worker.records.held[0].lock, work_table::done_word(0, work_table::DoneReason::acked)),
                "a late answer reaches the new words");
    }

    std::uint32_t first_generation_ = 0;
    unsigned letters_when_retired_ = kNotYet;
    bool moved_ = false;
};

// A stream group with retries: its owner attempts a record, loses the partition anywhere in it or dies, and the heir
// goes on. Every attempt counts, none comes after success, and what used its attempts up has one letter.
class AttemptsHandOver : public QueueStage {
public:
    explicit AttemptsHandOver(std::uint32_t limit, const Bounds& bounds) : QueueStage(shape_of(limit), bounds, 2) {}
    void set_up() override {
        QueueStage::set_up();
        first_generation_ = generation_;
    }
    void begin() override {
        QueueStage::begin();
        attempts_ = 0;
        succeeded_ = false;
        succeeding_ = {};
    }
    void thread(unsigned index) override {
        std::uint32_t generation = first_generation_;
        if (index == 1) {
            group_table::PartitionWord word = groups_.word(0, 0);
            group_table::PartitionWord mine = word;
            mine.generation = generation = first_generation_ + 1;
            mine.owner = group_table::Owner::of(0, 2);
            if (!groups_.change_word(0, 0, word, mine))
                return;
        }
        run(index, generation);
    }
    void finish() override {
        const std::uint32_t generation = groups_.word(0, 0).generation;
        for (unsigned round = 0; round < 6; ++round) {
            pass_a_lock();
            run(kThreadsMax, generation);
        }
        const unsigned letters = letters_about(0);
        require(work_table::is_done(word(0), 0), "a record is not finished");
        const bool acked = work_table::done_reason(word(0)) == work_table::DoneReason::acked;
        require(letters == (acked ? 0U : 1U), "a record ends with a letter and as a success, or with neither");
        require(!succeeded_ || acked, "a success is not recorded");
        require(!acked || succeeded_ || succeeding_[0] || succeeding_[1], "a success that nobody had");
    }

private:
    [[nodiscard]] static QueueShape shape_of(std::uint32_t limit) noexcept {
        QueueShape shape{.letters = true, .stream = true};
        shape.rules.delivery_limit = limit;
        return shape;
    }

    void run(unsigned thread, std::uint32_t generation) {
        Letters letters(*this, thread % 4);
        work_table::Attempts<M, Letters> attempts(work(generation), shape_.rules, false, letters, thread % 4);
        attempts.take_over(0, now_);
        for (unsigned round = 0; round < 4; ++round) {
            const work_table::TurnOf turn = attempts.look(0, now_);
            if (turn.turn == work_table::Turn::finished || turn.turn == work_table::Turn::fenced)
                return;
            if (turn.turn != work_table::Turn::ready) {
                pass(shape_.rules.backoff_max_ms);
                continue;
            }
            const auto lock = attempts.begin(0, turn.word);
            if (lock)
                attempt(attempts, thread, *lock);
        }
    }

    void attempt(work_table::Attempts<M, Letters>& attempts, unsigned thread, std::uint64_t lock) {
        ++attempts_;
        require(attempts_ <= shape_.rules.delivery_limit, "a record is attempted too often");
        // one that lost the partition just now may come late with its handler, but not with its answer
        require(!succeeded_ || word(0) != lock, "a record is locked after it succeeded");
        if (thread < kThreadsMax && choose(2) == 1) {
            (void)attempts.fail(0, lock, now_);
            return;
        }
        if (thread < kThreadsMax)
            succeeding_[thread] = true;
        if (!attempts.succeed(0, lock)) {
            if (thread < kThreadsMax)
                succeeding_[thread] = false;
            return;
        }
        require(!succeeded_, "two attempts of one record succeed");
        succeeded_ = true;
    }

    std::uint32_t first_generation_ = 0;
    unsigned attempts_ = 0;
    bool succeeded_ = false;
    std::array<bool, 2> succeeding_{};
};

const Registered letter_by_two{"queues.letter_by_two",
                               [] { return std::make_unique<LetterByTwo>(Bounds{.preemptions = 3, .stale = 1}); }};
const Registered letter_dying{"queues.letter_dying", [] {
                                  return std::make_unique<LetterByTwo>(
                                      Bounds{.preemptions = 2, .stale = 1, .deaths = 1, .stops = 1, .mortal = 3});
                              }};
const Registered letter_closed{"queues.letter_closed", [] { return std::make_unique<LetterClosed>(); }};
const Registered caps{"queues.caps", [] { return std::make_unique<Caps>(); }};
const Registered reset_holder{"queues.reset_holder", [] {
                                  return std::make_unique<ResetUnderHolder>(
                                      1, Bounds{.preemptions = 3, .stale = 1, .deaths = 1, .mortal = 1});
                              }};
const Registered reset_taker{
    "queues.reset_taker", [] { return std::make_unique<ResetUnderHolder>(0, Bounds{.preemptions = 3, .stale = 2}); }};
const Registered reset_dying{"queues.reset_dying", [] {
                                 return std::make_unique<ResetUnderHolder>(
                                     1, Bounds{.preemptions = 2, .stale = 1, .deaths = 1, .stops = 1, .mortal = 2});
                             }};
const Registered attempts_handed_over{
    "queues.attempts", [] {
        return std::make_unique<AttemptsHandOver>(
            2, Bounds{.preemptions = 2, .stale = 1, .deaths = 1, .stops = 1, .mortal = 1});
    }};

}  // namespace

}  // namespace ringmain::explore
