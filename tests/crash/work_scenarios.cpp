// What is done to a queue by a victim that is stopped in it.
#include "crash/work_stage.hpp"
#include "partition_log/log_start.hpp"

namespace ringmain::crash {

using namespace work_table;
using test::HeldRecord;
using test::WorkShape;

namespace {

/// Of a gating queue: nothing is lost but by retention that is asked for.
WorkShape gating() {
    WorkShape shape;
    shape.log.block = true;
    shape.log.records = 32;
    shape.gating = true;
    return shape;
}

WorkShape overwriting() {
    WorkShape shape;
    shape.log.records = 16;
    return shape;
}

WorkShape with(WorkShape shape, const std::function<void(WorkShape&)>& change) {
    change(shape);
    return shape;
}

void nothing(WorkStage&) {}

std::unique_ptr<QueueWorkerActor> other(WorkStage& stage) { return std::make_unique<QueueWorkerActor>(stage.view, kOtherSlot); }

void victim_holds(WorkStage& stage, std::size_t count) {
    const auto victim = stage.victim();
    (void)victim->acquire(count);
    stage.hold(*victim);
}

void victim_holds_three(WorkStage& stage) { victim_holds(stage, 3); }

/// The victim holds the first record for the last time.
void victim_holds_last(WorkStage& stage) {
    const auto victim = stage.victim();
    (void)victim->acquire(1);
    for (int i = 0; i < 2; ++i) {
        (void)victim->nack(victim->records.held[0], 0);
        (void)victim->acquire(1);
    }
    stage.hold(*victim);
}

void other_lets_expire(WorkStage& stage, std::size_t count, std::uint64_t deliveries) {
    const auto holder = other(stage);
    (void)holder->acquire(count);
    for (std::uint64_t i = 1; i < deliveries; ++i) {
        for (std::size_t k = 0; k < count; ++k) (void)holder->nack(holder->records.held[k], 0);
        (void)holder->acquire(count);
    }
    stage.view.pass(5'000);
}

void announce(WorkStage& stage, bool committed) {
    const auto holder = other(stage);
    (void)holder->acquire(1);
    test::LogLetters<Host> letters(stage.view, kOtherSlot);
    const LetterTicket ticket = letters.take_ticket();
    if (committed) (void)letters.commit_at(ticket.offset, {stage.offset(0), 1, LetterReason::rejected});
    stage.view.set_word(stage.offset(0), intent_word(LetterReason::rejected, 1, ticket.offset, stage.lap(0)));
    stage.view.pass(kSweepMs);
}

void acquire(WorkStage& stage, QueueWorkerActor& victim, std::size_t count) {
    (void)victim.acquire(count);
    stage.hold(victim);
}
void acquire_three(WorkStage& stage, QueueWorkerActor& victim) { acquire(stage, victim, 3); }

void acquire_twice(WorkStage& stage, QueueWorkerActor& victim) {
    (void)victim.acquire(0);
    (void)victim.acquire(1);
    stage.view.pass(kIntentPatienceMs);
    acquire(stage, victim, 3);
}

void ack(WorkStage& stage, QueueWorkerActor& victim) { stage.ack(victim, stage.report->held[0]); }
void reject(WorkStage& stage, QueueWorkerActor& victim) { (void)victim.reject(stage.report->held[0]); }

void reap(WorkStage& stage, QueueWorkerActor&) {
    const auto is_dead = [](std::uint64_t client) { return client == kHeir + kOtherSlot; };
    const auto returning = [&stage](std::uint32_t slot, std::uint64_t dead) {
        (void)return_records(stage.view.work(), stage.view.shape.rules, slot, [&] { return stage.view.workers.owner(slot) == dead; },
                             stage.view.now());
        return true;
    };
    (void)stage.view.workers.join(kHeir + 9, is_dead, returning);
}

std::vector<WorkScenario> acquiring() {
    return {
        {"acquire what was never handed out", nothing, acquire_three, gating()},
        {"acquire what was given back", [](WorkStage& stage) {
             const auto holder = other(stage);
             (void)holder->acquire(3);
             for (std::size_t i = 0; i < 3; ++i) (void)holder->release(holder->records.held[i]);
         }, acquire_three, gating()},
        {"acquire what ran out", [](WorkStage& stage) { other_lets_expire(stage, 2, 1); }, acquire_three, gating()},
        {"acquire delayed, expired and missing ones", [](WorkStage& stage) {
             stage.view.publish({.id = stage.view.log_end(), .delay_ms = 700});
             stage.view.publish({.id = stage.view.log_end(), .ttl_ms = 1});
             stage.view.skip();
             stage.view.pass(10);
             const auto holder = other(stage);
             (void)holder->acquire(WorkStage::kRecords);
             for (std::size_t i = 0; i < WorkStage::kRecords; ++i) (void)holder->ack(holder->records.held[i]);
         }, acquire_three, gating()},
        {"expiry of the last delivery: a letter", [](WorkStage& stage) { other_lets_expire(stage, 2, 3); }, acquire_three, gating()},
    };
}

std::vector<WorkScenario> settling() {
    return {
        {"ack of the first", victim_holds_three, ack, gating()},
        {"ack of another", victim_holds_three,
         [](WorkStage& stage, QueueWorkerActor& victim) { stage.ack(victim, stage.report->held[1]); }, gating()},
        {"ack behind which the start moves far", [](WorkStage& stage) {
             victim_holds(stage, 1);
             const auto holder = other(stage);
             (void)holder->acquire(5);
             for (std::size_t i = 0; i < 5; ++i) (void)holder->ack(holder->records.held[i]);
         }, ack, gating()},
        {"nack", victim_holds_three,
         [](WorkStage& stage, QueueWorkerActor& victim) { (void)victim.nack(stage.report->held[0]); }, gating()},
        {"nack of the last delivery: a letter", victim_holds_last,
         [](WorkStage& stage, QueueWorkerActor& victim) { (void)victim.nack(stage.report->held[0]); }, gating()},
        {"release", victim_holds_three,
         [](WorkStage& stage, QueueWorkerActor& victim) { (void)victim.release(stage.report->held[0]); }, gating()},
        {"renew", victim_holds_three, [](WorkStage& stage, QueueWorkerActor& victim) {
             HeldRecord held = stage.report->held[0];
             (void)victim.renew(held, 2'000);
             stage.report->held[0] = held;
         }, gating()},
        {"reject: a letter", victim_holds_three, reject, gating()},
        {"reject without a letter", victim_holds_three, reject, with(gating(), [](WorkShape& shape) { shape.rules.exhausted = EndOf::skip; })},
        {"reject while the dead letters are full", [](WorkStage& stage) {
             victim_holds_three(stage);
             stage.view.board->refuses.store(1, std::memory_order_release);
         }, reject, gating()},
    };
}

std::vector<WorkScenario> upkeep() {
    return {
        {"finish a letter that was announced", [](WorkStage& stage) { announce(stage, false); }, acquire_twice, gating()},
        {"finish a letter that was written", [](WorkStage& stage) { announce(stage, true); }, acquire_twice, gating()},
        {"acquire under a cap", nothing, acquire_three, with(gating(), [](WorkShape& shape) { shape.rules.in_flight_max = 4; })},
        {"return the records of a dead worker", [](WorkStage& stage) {
             const auto holder = other(stage);
             (void)holder->acquire(3);
             const std::uint64_t until = stage.view.now() + 900;
             stage.view.set_word(stage.offset(1), locked_word(3, 0, until, kOtherSlot, stage.lap(1)));
             stage.view.set_word(stage.offset(2), preparing_word(LetterReason::rejected, 1, until, kOtherSlot, stage.lap(2)));
         }, reap, gating()},
        {"move the start", [](WorkStage& stage) {
             const auto holder = other(stage);
             (void)holder->acquire(3);
             for (std::size_t i = 3; i-- > 1;) (void)holder->ack(holder->records.held[i]);
             stage.view.set_word(stage.offset(0), done_word(stage.offset(0), DoneReason::acked));
         }, [](WorkStage& stage, QueueWorkerActor&) { (void)advance(stage.view.work()); }, gating()},
    };
}

std::vector<WorkScenario> losing() {
    return {
        {"acquire what is lost", [](WorkStage& stage) { partition_log::delete_before(stage.view.host_log, stage.offset(3)); }, acquire_three, overwriting()},
        {"acquire what is lost under another's lock", [](WorkStage& stage) {
             other_lets_expire(stage, 2, 1);
             partition_log::delete_before(stage.view.host_log, stage.offset(1));
         }, acquire_three, overwriting()},
        {"acquire behind a window that is lost", [](WorkStage& stage) { stage.view.publish_many(40); }, acquire_three,
         with(overwriting(), [](WorkShape& shape) { shape.window = 4; })},
    };
}

}  // namespace

std::vector<WorkScenario> work_scenarios(std::uint64_t first_offset, std::uint64_t first_letter) {
    std::vector<WorkScenario> all = acquiring();
    for (const auto& more : {settling(), upkeep(), losing()}) all.insert(all.end(), more.begin(), more.end());
    const auto add = [&all](const std::string& base, const std::string& what, Meanwhile meanwhile, const WorkShape& shape) {
        for (const WorkScenario& one : std::vector<WorkScenario>(all)) {
            if (one.name != base) continue;
            all.push_back(one);
            all.back().name += what;
            all.back().meanwhile = meanwhile;
            all.back().shape = shape;
        }
    };
    for (const char* base : {"acquire what was never handed out", "acquire what ran out", "ack of the first", "nack", "reject: a letter",
                             "expiry of the last delivery: a letter"}) {
        add(base, ", and the queue is reset", Meanwhile::reset, overwriting());
        add(base, ", and retention takes the records", Meanwhile::retention, overwriting());
    }
    for (WorkScenario& one : all) {
        one.shape.log.first_offset = first_offset;
        one.shape.letters.first_offset = first_letter;
    }
    return all;
}

}  // namespace ringmain::crash
