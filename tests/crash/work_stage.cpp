// The stage, those who go on beside the victim, and the judgement.
#include "crash/work_stage.hpp"

#include <algorithm>

#include "partition_log/log_start.hpp"

namespace ringmain::crash {

using namespace work_table;

namespace {

constexpr std::uint64_t kLaps = 3;
constexpr int kRoundsMax = 200;  // of an honest worker, far more than any back-off and limit need

std::string text(std::uint64_t value) { return std::to_string(value); }

}  // namespace

std::size_t WorkStage::bytes(const test::WorkShape& shape) noexcept { return test::plain_work_bytes(shape) + layout::kPageBytes; }

WorkStage::WorkStage(std::byte* base, const test::WorkShape& shape)
    : view(base, shape), report(reinterpret_cast<WorkReport*>(base + test::plain_work_bytes(shape))) {}

void WorkStage::hold(QueueWorkerActor& worker) const {
    for (std::size_t i = 0; i < worker.records.count; ++i) report->held[i] = worker.records.held[i];
    report->held_count = static_cast<std::uint32_t>(worker.records.count);
    report->lost = worker.records.lost_records;
}

void WorkStage::ack(QueueWorkerActor& worker, const test::HeldRecord& held) const {
    report->acking.store(held.offset + 1, std::memory_order_release);
    if (worker.ack(held).answer == Answer::done) report->acked.store(held.offset + 1, std::memory_order_release);
}

WorkOthers::WorkOthers(WorkStage& stage, Meanwhile meanwhile)
    : stage_(stage),
      me_(std::make_unique<QueueWorkerActor>(stage.view, kMySlot)),
      first_(stage.view.shape.log.first_offset),
      meanwhile_(meanwhile) {}

void WorkOthers::require(bool holds, const std::string& what) {
    if (!holds) faults_.push_back(what);
}

void WorkOthers::reset_or_delete() {
    const auto& view = stage_.view;
    if (meanwhile_ == Meanwhile::retention) partition_log::delete_before(view.host_log, view.log_end() - 1);
    if (meanwhile_ != Meanwhile::reset) return;
    const std::uint32_t before = view.generation();
    view.reset(first_);
    test::LogLetters<Host> letters(view, kMySlot);
    (void)retire(view.work(before), letters);
    me_ = std::make_unique<QueueWorkerActor>(view, kMySlot);
}

void WorkOthers::return_of_the_dead() {
    auto view = stage_.view;
    const auto is_dead = [](std::uint64_t client) { return client == kVictim; };
    const auto returning = [&](std::uint32_t slot, std::uint64_t owner) {
        (void)return_records(view.work(), view.shape.rules, slot, [&] { return view.workers.owner(slot) == owner; }, view.now());
        return true;
    };
    require(view.workers.join(kHeir, is_dead, returning).has_value(), "the dead worker's slot does not come back");
    const std::uint64_t end = std::min(view.log_end(), view.start() + view.shape.window);
    for (std::uint64_t offset = view.start(); offset < end; ++offset) {
        const std::uint64_t word = view.word(offset);
        const bool named = state_of(word) == WorkState::locked || state_of(word) == WorkState::preparing;
        require(!named || slot_of(word) != kVictimSlot || is_free(word, lap_of(offset, view.shape.window)),
                "offset " + text(offset) + " still names the dead worker");
    }
}

void WorkOthers::finish_all(bool dead) {
    const auto& view = stage_.view;
    view.board->refuses.store(0, std::memory_order_release);
    reset_or_delete();
    note_outcomes(view.log_end());
    before_ = outcomes_;
    if (dead) return_of_the_dead();
    work(view.log_end());
    if (view.shape.gating) require(outcomes_.size() == view.log_end() - first_, "not every offset has an outcome");
}

/// One honest worker: acquires, acks, and waits as long as it takes.
void WorkOthers::work(std::uint64_t until) {
    const auto& view = stage_.view;
    for (int round = 0; round < kRoundsMax && view.start() < until; ++round) {
        const Acquired acquired = me_->acquire(4);
        for (std::size_t i = 0; i < acquired.records; ++i) {
            const test::HeldRecord held = me_->records.held[i];
            require(held.item.id == held.offset, "offset " + text(held.offset) + " was handed out with another record");
            require(count_of(held.word) <= view.shape.rules.delivery_limit, "offset " + text(held.offset) + " was delivered too often");
            require(me_->ack(held).answer == Answer::done, "offset " + text(held.offset) + " could not be acked in time");
            ++acked_by_me_[held.offset];
        }
        // what is finished is noted before its words are used again
        note_outcomes(view.log_end());
        if (acquired.records == 0) view.pass(250);
    }
    require(view.start() >= until, "a lone worker comes to " + text(view.start()) + " of " + text(until));
}

void WorkOthers::note_outcomes(std::uint64_t end) {
    const auto& view = stage_.view;
    for (std::uint64_t offset = first_; offset < end; ++offset) {
        if (!view.done(offset)) continue;
        const DoneReason reason = done_reason(view.word(offset));
        const auto [at, is_new] = outcomes_.emplace(offset, reason);
        require(is_new || at->second == reason, "offset " + text(offset) + " was finished twice");
    }
}

void WorkOthers::go_on() {
    const auto& view = stage_.view;
    for (std::uint64_t i = 0; i < kLaps * view.shape.window / 4; ++i) {
        view.publish_many(4);
        work(view.log_end());
    }
    // and some that the others hold, beside what a stopped one is counted with under a cap
    view.pass(view.shape.rules.lock_ms);
    view.publish_many(2);
    const Acquired held = me_->acquire(2);
    require(held.records == 2, "nothing is handed out behind the laps");
}

WorkOthers::Image WorkOthers::image() const {
    Image image{stage_.view.start(), letters(), {}};
    for (std::uint64_t i = 0; i < stage_.view.shape.window; ++i) image.words.push_back(stage_.view.word(i));
    return image;
}

std::uint64_t WorkOthers::letters() const {
    std::uint64_t count = 0;
    for (std::uint64_t at = stage_.view.shape.letters.first_offset; at < stage_.view.letters_end(); ++at) count += stage_.view.letter(at) ? 1 : 0;
    return count;
}

void WorkOthers::remember() { image_ = image(); }

void WorkOthers::compare() {
    const Image now = image();
    require(now.start == image_.start, "the late one moved the start from " + text(image_.start) + " to " + text(now.start));
    require(now.letters == image_.letters, "the late one wrote a letter");
    for (std::size_t i = 0; i < now.words.size(); ++i)
        require(now.words[i] == image_.words[i], "the late one changed word " + text(i));
}

void WorkOthers::judge(bool woke_up) {
    const auto& view = stage_.view;
    // whatever it still believes to hold is another's, or finished
    QueueWorkerActor late(view, kVictimSlot);
    for (std::uint32_t i = 0; woke_up && i < stage_.report->held_count; ++i) {
        const test::HeldRecord& held = stage_.report->held[i];
        require(late.ack(held).answer != Answer::done, "the late one acked offset " + text(held.offset));
    }
    judge_acks();
    for (const auto& [offset, reason] : outcomes_) {
        const std::uint64_t letters = view.letters_about(offset);
        if (meanwhile_ != Meanwhile::reset)
            require(letters == (reason == DoneReason::dead ? 1 : 0), "offset " + text(offset) + " has " + text(letters) + " letters");
        const bool gone = view.host_log.control->log_start.load(std::memory_order_acquire) > offset && !view.shape.log.block;
        require(reason != DoneReason::lost || gone, "offset " + text(offset) + " is lost, and in the log");
    }
    if (view.shape.rules.in_flight_max == 0) return;
    view.pass(10'000);
    const std::uint32_t rest = view.shape.rules.in_flight_max - 2;
    require(view.workers.announce(kMySlot, rest, view.shape.rules.in_flight_max, view.now() + 100, view.now()) == rest,
            "the dead one's share is counted for ever");
}

/// Each record was acked once, by who was told so or by who died in it.
void WorkOthers::judge_acks() {
    const std::uint64_t acked = stage_.report->acked.load(std::memory_order_acquire);
    const std::uint64_t acking = stage_.report->acking.load(std::memory_order_acquire);
    for (const auto& [offset, times] : acked_by_me_)
        require(times == 1 && outcomes_.at(offset) == DoneReason::acked, "offset " + text(offset) + " was acked by me, and is not");
    if (meanwhile_ == Meanwhile::reset) return;
    if (acked != 0) require(!acked_by_me_.contains(acked - 1), "offset " + text(acked - 1) + " was acked twice");
    if (acked != 0) require(outcomes_.at(acked - 1) == DoneReason::acked, "offset " + text(acked - 1) + " was acked, and is not");
    for (const auto& [offset, reason] : outcomes_) {
        const bool somebodys = acked_by_me_.contains(offset) || before_.contains(offset) || acking == offset + 1;
        require(reason != DoneReason::acked || somebodys, "offset " + text(offset) + " was acked by nobody");
    }
}

}  // namespace ringmain::crash
