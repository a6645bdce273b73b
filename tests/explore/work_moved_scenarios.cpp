// Scenarios of words that outlive what they were written about: a group that goes back over them, and a lap that looks
// like the one of long ago.
#include "explore/work_stage.hpp"

namespace ringmain::explore {

namespace {

using work_table::Answer;

// A worker looks at a record that was given back and stops. Until it goes on all others come 4096 laps further, where
// the words' laps begin anew, and give a record back whose word is the same.
class LapCycle : public QueueStage {
public:
    LapCycle() : QueueStage({}, {.preemptions = 2, .stale = 2}, 2) {}
    void set_up() override {
        QueueStage::set_up();
        Worker first(*this, 0);
        (void)first.acquire(1);
        (void)first.release(first.records.held[0]);
        given_back_ = word(0);
    }
    void begin() override {
        QueueStage::begin();
        came_round_ = false;
    }
    void thread(unsigned index) override {
        Worker worker(*this, index);
        if (index == 1)
            pass(work_table::kSweepMs);
        if (worker.acquire(1) == 0 || worker.ack(worker.records.held[0]).answer != Answer::done)
            return;
        if (index == 1)
            come_round();
    }
    void finish() override {
        if (!came_round_)
            return QueueStage::finish();
        require(word(0) == given_back_, "a record is taken by who saw the one of 4096 laps before");
    }

private:
    // Everything in between, told by its end.
    void come_round() {
        const std::uint64_t later = (work_table::kLapMask + 1) * shape_.window;
        group_table::PartitionWord place;
        require(work().current(place) && place.committed == 1, "the window does not begin behind what was finished");
        require(work().move_start(place, later), "somebody else has moved the window");
        came_round_ = work().change(later, word(later), given_back_);
    }

    std::uint64_t given_back_ = 0;
    bool came_round_ = false;
};

// The owner of a stream with retries has finished some of two records, finishes the rest and goes back over both; it
// may lose the partition at any step of it, to an heir, or to an operator who moves the group as well. Whoever has the
// partition then does each of them anew, whatever its word said.
class MovedBack : public QueueStage {
public:
    enum class Movers : std::uint8_t { go_on, stop };
    MovedBack(std::uint64_t finished, const Bounds& bounds, unsigned threads = 2, Movers movers = Movers::go_on)
        : QueueStage({.records = 2, .stream = true}, bounds, threads), finished_(finished), movers_(movers) {}
    void set_up() override {
        QueueStage::set_up();
        Letters letters(*this, 0);
        Attempts attempts(work(), shape_.rules, false, letters, 0);
        for (std::uint64_t offset = 0; offset < finished_; ++offset)
            (void)finish_one(attempts, offset);
        (void)work_table::advance(work());
        first_ = groups_.word(0, 0);
    }
    void begin() override {
        QueueStage::begin();
        latest_generation_ = first_.generation;
        moved_ = 0;
        anew_ = {};
    }
    void thread(unsigned index) override {
        if (index == 0 && finished_ != shape_.records)
            run(0, first_);
        const bool moves = index != 1;
        const auto mine = take(index, moves ? std::optional<std::uint64_t>(0) : std::nullopt);
        if (mine && !(moves && movers_ == Movers::stop))
            run(index, *mine);
    }
    void finish() override {
        const auto mine = take(3, std::nullopt);
        require(mine.has_value(), "a partition is not to be had");
        run(3, *mine);
        require(work(mine->generation).start() == shape_.records, "the window does not come to the end");
        for (const bool anew : anew_)
            require(anew || moved_ == 0, "a record is not done anew after the group went back");
    }

private:
    using Attempts = work_table::Attempts<M, Letters>;

    /// Another tenure, from `committed` on if the group is moved by it.
    std::optional<group_table::PartitionWord> take(unsigned thread, std::optional<std::uint64_t> committed) {
        for (group_table::PartitionWord word = groups_.word(0, 0);;) {
            if (thread == 0 && word.generation != first_.generation)
                return std::nullopt;  // not its owner's any more
            group_table::PartitionWord mine = word;
            mine.generation = group_table::next_generation(word.generation);
            mine.owner = group_table::Owner::of(0, thread + 2);
            mine.committed = committed.value_or(word.committed);
            if (committed)
                work().mark_rewound(mine.generation);
            if (!groups_.change_word(0, 0, word, mine))
                continue;
            latest_generation_ = mine.generation;
            if (committed) {
                moved_ = mine.generation;
                anew_ = {};
            }
            return mine;
        }
    }
    void run(unsigned thread, const group_table::PartitionWord& mine) {
        Letters letters(*this, thread);
        Attempts attempts(work(mine.generation), shape_.rules, false, letters, thread);
        attempts.take_over(mine.committed, now_);
        for (std::uint64_t offset = mine.committed; offset < shape_.records && finish_one(attempts, offset); ++offset)
            (void)work_table::advance(attempts.work());
    }
    /// False: the partition is another's.
    bool finish_one(Attempts& attempts, std::uint64_t offset) {
        for (unsigned round = 0; round < 4; ++round) {
            const work_table::TurnOf turn = attempts.look(offset, now_);
            if (turn.turn == work_table::Turn::fenced)
                return false;
            if (turn.turn == work_table::Turn::finished) {
                require(moved_ == 0 || is_late(attempts) || anew_[offset],
                        "a record is believed that was to be done anew");
                return true;
            }
            if (turn.turn == work_table::Turn::waits) {
                pass(shape_.rules.backoff_max_ms);
                continue;
            }
            const auto lock = attempts.begin(offset, turn.word);
            if (lock && attempts.succeed(offset, *lock))
                anew_[offset] = moved_ != 0 && attempts.work().generation() >= moved_;
        }
        return true;
    }
    /// What it believes moves nothing any more: the partition is another's.
    [[nodiscard]] bool is_late(const Attempts& attempts) const noexcept {
        return attempts.work().generation() != latest_generation_;
    }

    std::uint64_t finished_;
    Movers movers_;
    group_table::PartitionWord first_;
    std::uint32_t latest_generation_ = 0;
    std::uint32_t moved_ = 0;  // the generation by which the group was moved last
    std::array<bool, 2> anew_{};
};

const Registered lap_cycle{"queues.lap_cycle", [] { return std::make_unique<LapCycle>(); }};
const Registered moved_back{"queues.moved_back",
                            [] { return std::make_unique<MovedBack>(1, Bounds{.preemptions = 3, .stale = 2}); }};
const Registered moved_back_stale{"queues.moved_back_stale",
                                  [] { return std::make_unique<MovedBack>(2, Bounds{.preemptions = 2, .stale = 4}); }};
const Registered moved_by_two{"queues.moved_by_two",
                              [] { return std::make_unique<MovedBack>(2, Bounds{.preemptions = 3, .stale = 1}, 3); }};
const Registered marks_at_once{
    "queues.marks_at_once",
    [] { return std::make_unique<MovedBack>(2, Bounds{.preemptions = 3, .stale = 1}, 3, MovedBack::Movers::stop); }};

}  // namespace

}  // namespace ringmain::explore
