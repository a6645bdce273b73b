// Running a random sequence on the work table and on the reference.
#include "model/work_run.hpp"

#include <stdexcept>

#include "model/real_record.hpp"
#include "partition_log/log_start.hpp"

namespace ringmain::test {

using namespace work_table;

namespace {

constexpr std::uint64_t kLogRecords = 16;

WorkShape shape_from(const WorkSequence& sequence) {
    std::uint32_t shape = sequence.shape;
    const auto draw = [&shape](std::uint32_t choices) {
        const std::uint32_t choice = shape % choices;
        shape /= choices;
        return choice;
    };
    WorkShape made;
    made.log.records = kLogRecords;
    made.log.first_offset = sequence.first_offset;
    made.log.block = draw(2) != 0;
    made.gating = made.log.block;
    made.letters.records = 1024;
    made.window = std::uint64_t{1} << draw(5);
    made.now = sequence.now;
    made.rules.delivery_limit = draw(5);
    made.rules.lock_ms = 10 + 300 * draw(3);
    made.rules.backoff_first_ms = 60 * draw(3);
    made.rules.backoff_jitter_permille = 200 * draw(2);
    made.rules.exhausted = draw(4) == 0 ? EndOf::skip : EndOf::dead_letter;
    made.rules.expired = draw(2) == 0 ? EndOf::skip : EndOf::dead_letter;
    return made;
}

std::string number(std::uint64_t value) { return std::to_string(value); }

std::string text_of(const ReferenceEntry& entry) {
    static constexpr const char* kStates[] = {"fresh", "ready", "locked", "ending", "done"};
    static constexpr const char* kOutcomes[] = {"lost", "acked", "dead", "skipped"};
    std::string text = kStates[static_cast<std::size_t>(entry.state)];
    if (entry.done()) return text + " " + kOutcomes[static_cast<std::size_t>(entry.outcome)];
    return text + " count " + number(entry.count) + " time " + number(entry.time) + " slot " + number(entry.slot) +
           (entry.condemned ? " condemned" : "");
}

bool same(const ReferenceEntry& a, const ReferenceEntry& b) {
    if (a.state != b.state) return false;
    switch (a.state) {
        case EntryState::fresh: return true;
        case EntryState::done: return a.outcome == b.outcome;
        case EntryState::ending: return a.count == b.count;
        case EntryState::ready:
            return a.count == b.count && (a.time & kClockMask) == (b.time & kClockMask) && a.condemned == b.condemned &&
                   (!a.condemned || a.reason == b.reason);
        case EntryState::locked:
            return a.count == b.count && (a.time & kClockMask) == (b.time & kClockMask) && a.slot == b.slot;
    }
    return false;
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const WorkOperation& operation) {
    static constexpr const char* kNames[] = {"publish", "skip", "acquire", "ack",    "nack",   "release", "reject", "renew",
                                             "pass",    "die",  "restart", "refuse", "retain", "reset",   "keep"};
    return out << kNames[static_cast<std::size_t>(operation.action)] << '(' << operation.a << ", " << operation.b << ", "
               << operation.c << ')';
}

WorkRun::WorkRun(const WorkSequence& sequence) : work_(shape_from(sequence)) {
    reference_.rules = work_.shape.rules;
    reference_.window = work_.shape.window;
    reference_.log_records = kLogRecords;
    reference_.first = reference_.start = reference_.frontier = work_.shape.log.first_offset;
    for (std::uint32_t worker = 0; worker < kWorkers; ++worker) begin_worker(worker);
    observe();
}

void WorkRun::begin_worker(std::uint32_t worker) {
    workers_[worker] = std::make_unique<PlainWorker<M>>(work_, worker);
    dead_[worker] = false;
}

void WorkRun::observe() {
    reference_.now = work_.now();
    reference_.log_start = work_.host_log.control->log_start.load(std::memory_order_acquire);
}

void WorkRun::apply(const WorkOperation& operation) {
    observe();
    const std::uint32_t worker = operation.a % kWorkers;
    switch (operation.action) {
        case WorkAction::publish: publish(operation); break;
        case WorkAction::skip:
            if (work_.shape.log.block) break;
            work_.skip();
            reference_.entries.emplace_back().skip = true;
            letters_.push_back(0);
            break;
        case WorkAction::acquire: acquire(worker, 1 + operation.b % 6); break;
        case WorkAction::pass: work_.pass(operation.a % 3 == 0 ? operation.b % 2'000 : operation.b % 120); break;
        case WorkAction::die: points_to_live_ = 1 + operation.a % 12; break;
        case WorkAction::restart: restart(worker); break;
        case WorkAction::refuse:
            reference_.refuses = operation.a % 2 == 0;
            work_.board->refuses.store(reference_.refuses ? 1 : 0, std::memory_order_release);
            break;
        case WorkAction::retain:
            if (!work_.shape.log.block) {
                const std::uint64_t kept = operation.a % (kLogRecords + 1);
                const std::uint64_t end = work_.log_end();
                partition_log::delete_before(work_.host_log, end - reference_.first > kept ? end - kept : reference_.first);
            }
            break;
        case WorkAction::reset: reset(operation.b); break;
        case WorkAction::keep: {
            std::uint64_t from = 0;
            (void)jump(work_.work(), from);
            (void)advance(work_.work());
            reference_.move_on();
            reference_.move_on();
            break;
        }
        default: settle(operation);
    }
    observe();
    compare_all();
}

void WorkRun::publish(const WorkOperation& operation) {
    for (std::uint32_t i = 0; i < 1 + operation.c % 5; ++i) {
        WorkItem item{.id = reference_.end()};
        if ((operation.a + i) % 6 == 0) item.delay_ms = operation.b % 400;
        if ((operation.a + i) % 7 == 0) item.ttl_ms = 1 + operation.b % 900;
        const std::uint64_t offset = work_.publish(item);
        if (offset == ~std::uint64_t{0}) {
            require(work_.shape.log.block && reference_.start + kLogRecords <= reference_.end() + 8, "publish refused without a reason");
            return;
        }
        require(offset == reference_.end(), "published at " + number(offset));
        ReferenceEntry& entry = reference_.entries.emplace_back();
        entry.published = work_.now();
        entry.delay_ms = item.delay_ms;
        entry.ttl_ms = item.ttl_ms;
        letters_.push_back(0);
    }
}

template <class Work>
bool WorkRun::survives(std::uint32_t worker, const Work& work) {
    if (points_to_live_ == 0) {
        work();
        return true;
    }
    const bool alive = Fate::mine().survives(std::exchange(points_to_live_, 0), work);
    if (!alive) {
        dead_[worker] = true;
        fuzzy_until_ = work_.now() + kSweepMs;
    }
    return alive;
}

void WorkRun::acquire(std::uint32_t worker, std::size_t count) {
    if (dead_[worker]) return;
    const std::uint64_t hint = work_.truth().next_due();
    const std::uint64_t now = work_.now();
    const bool swept = late(hint, now) || until(hint, now) > kSweepMs;
    require(swept || now < fuzzy_until_ || !reference_.anything_due(now), "something is due, and the hint does not say so");
    PlainWorker<M>& real = *workers_[worker];
    Acquired acquired;
    if (!survives(worker, [&] { acquired = real.acquire(count); })) return adopt(worker, std::nullopt);
    const ReferenceAcquired expected = reference_.acquire(worker, count, swept, [this](std::uint64_t offset) { look(offset); });
    require(acquired.records == expected.offsets.size(), "acquired " + number(acquired.records) + " records, not " + number(expected.offsets.size()));
    for (std::size_t i = 0; i < acquired.records; ++i) {
        const HeldRecord& held = real.records.held[i];
        require(held.offset == expected.offsets[i], "acquired offset " + number(held.offset) + ", not " + number(expected.offsets[i]));
        require(held.item.id == held.offset, "acquired another record");
        reference_.at(held.offset).word = held.word;
        handles_.push_back({worker, work_.generation(), held});
    }
    const Short why = expected.empty ? Short::empty : expected.window_full ? Short::window_full : Short::no;
    require(acquired.why == why, "acquire: why " + number(static_cast<std::uint64_t>(acquired.why)) + ", not " + number(static_cast<std::uint64_t>(why)));
}

void WorkRun::settle(const WorkOperation& operation) {
    if (handles_.empty()) return;
    // the last ones more often than not
    const std::size_t back = operation.a % 4 == 0 ? operation.b % handles_.size() : operation.b % std::min<std::size_t>(handles_.size(), 6);
    Handle& handle = handles_[handles_.size() - 1 - back];
    if (dead_[handle.worker] || handle.generation + 1 < work_.generation()) return;
    const bool current = handle.generation == work_.generation();
    const ReferenceEntry& entry = reference_.at(handle.held.offset);
    const bool valid = current && entry.state == EntryState::locked && entry.word == handle.held.word && entry.slot == handle.worker;
    const Handle before = handle;
    Answered answered;
    if (!survives(handle.worker, [&] { say(operation, handle, valid, answered); }))
        return adopt(before.worker, valid ? std::optional(before.held.offset) : std::nullopt);
    if (!valid) return check_answer(before, answered);
    const std::uint64_t start = reference_.start;
    expect(operation, before, handle.held.word);
    const bool refused = reference_.at(before.held.offset).condemned;
    require(answered.answer == (refused ? Answer::letters_refused : Answer::done),
            "settling answers " + number(static_cast<std::uint64_t>(answered.answer)));
    // the start may have been moved over what is finished, and has been if this was the first
    reference_.start = work_.start();
    require(reference_.start >= start, "the start went back");
    if (start == before.held.offset && reference_.at(start).done()) require(reference_.start > start, "the start stood at a finished record");
}

void WorkRun::say(const WorkOperation& operation, Handle& handle, bool, Answered& answered) {
    PlainWorker<M> late_one(work_, handle.worker, handle.generation);
    PlainWorker<M>& worker = handle.generation == work_.generation() ? *workers_[handle.worker] : late_one;
    switch (operation.action) {
        case WorkAction::ack: answered = worker.ack(handle.held); break;
        case WorkAction::nack:
            answered = operation.c % 2 == 0 ? worker.nack(handle.held) : worker.nack(handle.held, operation.c % 500);
            break;
        case WorkAction::release: answered = worker.release(handle.held); break;
        case WorkAction::reject: answered = worker.reject(handle.held); break;
        default: answered = worker.renew(handle.held, 10 + operation.c % 900);
    }
}

void WorkRun::expect(const WorkOperation& operation, const Handle& handle, std::uint64_t new_word) {
    const std::uint64_t offset = handle.held.offset;
    const std::uint64_t now = reference_.now;
    const std::uint64_t again = now + (tag_of(handle.held.word) == kTagMax ? 1 : 0);  // so that no lock has the word of an earlier one
    ReferenceEntry& entry = reference_.at(offset);
    switch (operation.action) {
        case WorkAction::ack: entry.finish(DoneReason::acked); break;
        case WorkAction::nack:
            if (reference_.rules.used_up(entry.count)) {
                reference_.end_record(offset, LetterReason::limit);
            } else {
                reference_.make_ready(entry, entry.count,
                                      again + (operation.c % 2 == 0 ? reference_.backoff(offset, entry.count) : operation.c % 500));
            }
            break;
        case WorkAction::release: reference_.make_ready(entry, entry.count - 1, again); break;
        case WorkAction::reject: reference_.end_record(offset, LetterReason::rejected); break;
        default:
            entry.time = now + 10 + operation.c % 900;
            entry.word = new_word;
    }
}

/// A handle that is none any more: who has the record, if anybody.
void WorkRun::check_answer(const Handle& handle, const Answered& answered) {
    const ReferenceEntry& entry = reference_.at(handle.held.offset);
    const auto is = [&](Answer answer) { return answered.answer == answer; };
    const std::string what = "a late answer is answered with " + number(static_cast<std::uint64_t>(answered.answer));
    if (handle.generation != work_.generation()) return require(is(Answer::fenced), what + " after a reset");
    if (entry.done() && entry.outcome == DoneReason::lost) return require(is(Answer::lost) || is(Answer::finished), what + ": lost");
    if (entry.done()) return require(is(Answer::finished), what + ": finished");
    require(is(Answer::taken), what + ": " + text_of(entry));
    require((entry.state == EntryState::locked) == answered.slot.has_value(), what + " and somebody or nobody");
    if (answered.slot) require(*answered.slot == entry.slot, what + " and another holder");
}

void WorkRun::restart(std::uint32_t worker) {
    const auto still_its = [] { return true; };
    if (points_to_live_ != 0) points_to_live_ = 0;
    (void)return_records(work_.work(), reference_.rules, worker, still_its, work_.now());
    for (std::uint64_t offset = reference_.start; offset < reference_.end(); ++offset) {
        ReferenceEntry& entry = reference_.at(offset);
        if (entry.state == EntryState::ending && offset < reference_.start + reference_.window) look(offset);
        if (entry.state != EntryState::locked || entry.slot != worker) continue;
        reference_.make_ready(entry, entry.count, reference_.now + reference_.backoff(offset, entry.count));
        if (!reference_.rules.used_up(entry.count)) continue;
        entry.condemned = true;
        entry.reason = LetterReason::died;
    }
    // its handles died with it
    std::erase_if(handles_, [worker](const Handle& handle) { return handle.worker == worker; });
    begin_worker(worker);
}

void WorkRun::reset(std::uint32_t where) {
    for (const ReferenceEntry& entry : reference_.entries) {
        if (entry.state == EntryState::ending) return;  // announced letters are finished first
    }
    if (work_.shape.log.block) return;  // a gate that goes back is the groups' business
    const std::uint64_t target = reference_.first + where % (reference_.entries.size() + 1);
    work_.reset(target);
    for (std::uint64_t offset = reference_.first; offset < reference_.end(); ++offset) {
        ReferenceEntry& entry = reference_.at(offset);
        letters_[offset - reference_.first] += entry.done() && entry.outcome == DoneReason::dead ? 1 : 0;
        ReferenceEntry fresh;
        fresh.skip = entry.skip;
        fresh.published = entry.published;
        fresh.delay_ms = entry.delay_ms;
        fresh.ttl_ms = entry.ttl_ms;
        entry = fresh;
        if (offset < target) entry.finish(DoneReason::skipped);
    }
    reference_.start = reference_.frontier = target;
    fuzzy_until_ = 0;
    for (std::uint32_t worker = 0; worker < kWorkers; ++worker) {
        if (!dead_[worker]) begin_worker(worker);
    }
}

ReferenceEntry WorkRun::seen(std::uint64_t offset) {
    ReferenceEntry entry = reference_.at(offset);
    const std::uint64_t word = work_.word(offset);
    if (is_done(word, offset)) {
        entry.finish(done_reason(word));
        return entry;
    }
    if (is_free(word, lap_of(offset, reference_.window))) {
        entry.state = EntryState::fresh;
        return entry;
    }
    entry.count = count_of(word);
    entry.word = word;
    entry.condemned = false;
    switch (state_of(word)) {
        case WorkState::ready:
            entry.state = EntryState::ready;
            entry.time = time_of(word);
            entry.condemned = condemned(word);
            if (entry.condemned) entry.reason = reason_of(word);
            break;
        case WorkState::locked:
            entry.state = EntryState::locked;
            entry.time = time_of(word);
            entry.slot = slot_of(word);
            break;
        default:
            entry.state = EntryState::ending;
            entry.reason = reason_of(word);
    }
    // in the reference times do not wrap
    if (entry.state == EntryState::ready || entry.state == EntryState::locked) {
        const std::uint64_t now = work_.now();
        entry.time = late(entry.time, now) ? now - ((now - entry.time) & kClockMask) : now + until(entry.time, now);
    }
    return entry;
}

void WorkRun::compare(std::uint64_t offset) {
    const ReferenceEntry real = seen(offset);
    ReferenceEntry& expected = reference_.at(offset);
    if (expected.state == EntryState::ending) return look(offset);
    require(same(real, expected), "offset " + number(offset) + " is " + text_of(real) + ", not " + text_of(expected));
}

void WorkRun::compare_all() {
    require(work_.start() == reference_.start, "the start is " + number(work_.start()) + ", not " + number(reference_.start));
    for (std::uint64_t offset = reference_.start; offset < std::min(reference_.end(), reference_.start + reference_.window); ++offset)
        compare(offset);
}

/// How an offset was finished whose word is another's by now, as far as the reference does not know.
DoneReason WorkRun::passed(std::uint64_t offset) {
    const ReferenceEntry& entry = reference_.at(offset);
    if (work_.letters_about(offset) != letters_[offset - reference_.first]) return DoneReason::dead;
    if (reference_.gone(offset)) return DoneReason::lost;
    const bool over = entry.state == EntryState::ending || entry.condemned || reference_.expired(entry) || reference_.rules.used_up(entry.count);
    const bool skips = reference_.rules.exhausted == EndOf::skip || reference_.rules.expired == EndOf::skip;
    require(entry.skip || (over && skips), "offset " + number(offset) + " was passed, and is " + text_of(entry));
    return DoneReason::skipped;
}

/// What a dead worker was ending is ended by whoever comes by, in its own time.
void WorkRun::look(std::uint64_t offset) {
    ReferenceEntry& entry = reference_.at(offset);
    if (work_.start() > offset && !is_done(work_.word(offset), offset)) return entry.finish(passed(offset));
    const ReferenceEntry real = seen(offset);
    const bool skips = reference_.rules.end_of(entry.reason) == EndOf::skip;
    const bool fine = real.state == EntryState::ending || (real.state == EntryState::ready && real.condemned) ||
                      (real.done() && (real.outcome == DoneReason::dead || (real.outcome == DoneReason::lost && reference_.gone(offset)) ||
                                       (real.outcome == DoneReason::skipped && skips)));
    require(fine, "offset " + number(offset) + " was being ended and is " + text_of(real));
    require(real.done() || real.count == entry.count, "offset " + number(offset) + " was being ended, and its count changed");
    entry = real;
}

bool WorkRun::may_become(const ReferenceEntry& from, const ReferenceEntry& to, std::uint64_t offset, std::uint32_t worker, bool settled) {
    if (same(from, to)) return true;
    if (from.done()) return false;
    const bool available = from.state == EntryState::fresh || reference_.gone(offset) ||
                           (from.state != EntryState::ending && reference_.due(offset) <= reference_.now);
    if (from.state == EntryState::ending) return to.state == EntryState::ending || to.done() || to.condemned;
    if (!settled && !available) return false;
    const bool over = settled || from.condemned || reference_.rules.used_up(from.count) || reference_.expired(from);
    switch (to.state) {
        case EntryState::fresh: return false;
        case EntryState::ending: return over && to.count == from.count;
        case EntryState::locked:
            return to.slot == worker && (settled ? to.count == from.count : to.count == reference_.rules.next_count(from.count));
        case EntryState::ready:
            if (to.condemned) return over;
            return settled ? to.count == from.count || to.count + 1 == from.count : from.delay_ms != 0 && to.count == 0;
        case EntryState::done:
            switch (to.outcome) {
                case DoneReason::acked: return settled;
                case DoneReason::dead: return over;
                case DoneReason::skipped: return from.skip || over;
                case DoneReason::lost: return reference_.gone(offset);
            }
    }
    return false;
}

void WorkRun::adopt(std::uint32_t worker, std::optional<std::uint64_t> settled) {
    observe();
    const std::uint64_t start = work_.start();
    for (std::uint64_t offset = reference_.start; offset < reference_.end(); ++offset) {
        ReferenceEntry& entry = reference_.at(offset);
        if (offset >= start + reference_.window) break;
        if (offset < start && !is_done(work_.word(offset), offset)) {
            if (!entry.done()) entry.finish(passed(offset));
            continue;
        }
        const ReferenceEntry real = seen(offset);
        require(may_become(entry, real, offset, worker, settled == offset),
                "a death made offset " + number(offset) + " " + text_of(real) + " from " + text_of(entry));
        entry = real;
    }
    require(start >= reference_.start, "a death moved the start back");
    reference_.start = start;
    reference_.frontier = work_.control().frontier.load(std::memory_order_acquire);
}

void WorkRun::finish() {
    points_to_live_ = 0;
    apply({WorkAction::refuse, 1, 0, 0});
    PlainWorker<M> last(work_, kWorkers);
    for (int i = 0; i < 400 && work_.start() != work_.log_end(); ++i) {
        work_.pass(i % 2 == 0 ? 50 : 1'500);
        observe();
        const Acquired acquired = last.acquire(8);
        for (std::size_t k = 0; k < acquired.records; ++k)
            require(last.ack(last.records.held[k]).answer == Answer::done, "the last worker cannot ack");
        // now only what the words say is known
        for (std::uint64_t offset = reference_.first; offset < reference_.end(); ++offset) {
            ReferenceEntry& entry = reference_.at(offset);
            if (!entry.done() && is_done(work_.word(offset), offset)) entry.finish(done_reason(work_.word(offset)));
            if (!entry.done() && offset < work_.start()) entry.finish(passed(offset));
        }
    }
    require(work_.start() == work_.log_end(), "a lone worker comes to " + number(work_.start()) + " of " + number(work_.log_end()));
    for (std::uint64_t offset = reference_.first; offset < reference_.end(); ++offset) {
        const ReferenceEntry& entry = reference_.at(offset);
        require(entry.done(), "offset " + number(offset) + " is unfinished");
        const std::uint64_t expected = letters_[offset - reference_.first] + (entry.outcome == DoneReason::dead ? 1 : 0);
        const std::uint64_t letters = work_.letters_about(offset);
        require(letters == expected, "offset " + number(offset) + ", " + text_of(entry) + ", has " + number(letters) + " letters, not " + number(expected));
        require(entry.outcome != DoneReason::lost || reference_.gone(offset), "offset " + number(offset) + " is lost, and in the log");
    }
}

void run_work_sequence(const WorkSequence& sequence) {
    WorkRun run(sequence);
    std::size_t index = 0;
    try {
        for (const WorkOperation& operation : sequence.operations) {
            run.apply(operation);
            ++index;
        }
        run.finish();
    } catch (const std::exception& error) {
        throw std::runtime_error("after " + std::to_string(index) + " operations: " + error.what());
    }
}

}  // namespace ringmain::test
