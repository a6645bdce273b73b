// One partition in the hands of a runner.
#include "retry_partition.hpp"

#include <algorithm>

#include "gap_list.hpp"
#include "platform/clock.hpp"
#include "work_table/boots.hpp"

namespace ringmain {

namespace {

using partition_log::Found;
using work_table::DoneReason;
using work_table::Turn;
using work_table::TurnOf;

std::string key_of(const partition_log::RecordView& view) {
    std::string key(view.key_bytes, '\0');
    platform::HostMemory::copy_out(key.data(), view.key(), view.key_bytes);
    return key;
}

}  // namespace

RetryTime retry_time_now() noexcept { return {platform::shared_monotonic_ms(), platform::ticks()}; }

void RetryPartition::News::add_gap(const Gap& gap) {
    if (gap.reason == GapReason::overwritten)
        counts.lost += gap.count();
    ringmain::add_gap(gaps, gap);
}

RetryPartition::RetryPartition(WorkFiles& files, std::shared_ptr<PartitionCursor> cursor, DeadLetterLogs& letters,
                               const RetryPolicy& policy, News& news)
    : files_(files),
      cursor_(std::move(cursor)),
      policy_(policy),
      news_(news),
      letters_(letters, cursor_->partition(), cursor_->reader()) {
    (void)files_.part(cursor_->partition());
}

void RetryPartition::begin_tenure(const Tenure& tenure) {
    end_tenure();
    const WorkFiles::Part& part = words();
    layout::WorkGeometry geometry = part.geometry;
    geometry.generation = tenure_ = tenure.generation;  // locks are of this tenure
    const work_table::WorkMemory<Memory> work(part.base, geometry, files_.topic().groups(), cursor_->log());
    work_table::begin_boot(work, platform::shared_boot_hash(), retry_time_now().ms);
    attempts_.emplace(work, policy_.rules, policy_.stops, letters_, tenure.member_slot);
    held_ = true;
    on_loss_ = tenure.on_loss;
    start_ = next_ = tenure.start;
    attempts_->take_over(start_, retry_time_now().ms);
}

/// What is damaged is found by the first look.
const WorkFiles::Part& RetryPartition::words() {
    try {
        return files_.part_now(cursor_->partition());
    } catch (const Error&) {
        return files_.part(cursor_->partition());
    }
}

void RetryPartition::end_tenure() noexcept {
    held_ = false;
    open_.clear();
    due_.clear();
    letters_due_.clear();
    keys_.clear();
    condemned_ = in_hand_ = 0;
    status_ = Status::ok;
    position_lost_ = false;
}

// --- what is next ---

bool RetryPartition::next(RetryTask& task, const RetryTime& now) {
    if (!held())
        return false;
    if (cursor_->deleted()) {
        status_ = Status::topic_deleted;
        return false;
    }
    if (is_damaged())
        return false;
    find_loss(now);
    return next_due(task, now) || scan(task, now);
}

/// Nothing is known of any record then: none is lost, and none is finished.
bool RetryPartition::is_damaged() noexcept {
    if (!cursor_->damaged() && !attempts_->work().log_damaged() && files_.whole(cursor_->partition()))
        return false;
    status_ = Status::corrupt;
    return true;
}

/// Letters first: while one is refused, nothing else of the partition is begun.
bool RetryPartition::next_due(RetryTask& task, const RetryTime& now) {
    while (held() && !letters_due_.empty() && letters_due_.begin()->first <= now.ms)
        look_at(open_.find(letters_due_.begin()->second), now);
    while (may_attempt() && !due_.empty() && due_.begin()->first <= now.ms) {
        if (attempt(open_.find(due_.begin()->second), task, now))
            return true;
    }
    return false;
}

bool RetryPartition::may_attempt() const noexcept {
    return held() && condemned_ == 0 && !position_lost_ && status_ == Status::ok;
}

bool RetryPartition::may_scan() const noexcept {
    if (!may_attempt())
        return false;
    if (policy_.order == RetryOrder::partition && !open_.empty())
        return false;
    return open_.size() < policy_.waiting_max && next_ < start_ + attempts_->work().window();
}

bool RetryPartition::scan(RetryTask& task, const RetryTime& now) {
    while (may_scan()) {
        if (work_table::is_done(attempts_->work().word_of(next_), next_)) {  // before this tenure
            ++next_;
            continue;
        }
        partition_log::RecordView view;
        switch (cursor_->reader().look(next_, view)) {
            case Found::nothing:
                hold_up(now);
                return false;
            case Found::lapped:
                return false;  // the next look finds the loss
            case Found::skip:
                ++next_;
                continue;
            case Found::corrupt:
                if (is_damaged())
                    return false;
                tell(next_, next_ + 1, GapReason::corrupt);
                (void)attempts_->give_up(next_++, DoneReason::skipped, now.ms);
                continue;
            case Found::record:
                break;
        }
        const OpenAt at = open(next_, view);
        if (!cursor_->reader().valid(next_)) {  // the key is not to be believed
            take_out(at);
            return false;
        }
        ++next_;
        if (at->second.state != State::held && attempt(at, task, now))
            return true;
    }
    return false;
}

RetryPartition::OpenAt RetryPartition::open(std::uint64_t offset, const partition_log::RecordView& view) {
    const OpenAt at = open_.try_emplace(offset).first;
    if (policy_.order == RetryOrder::key && !view.null_key()) {
        KeyQueue& queue = *keys_.try_emplace(key_of(view)).first;
        if (!queue.second.empty())
            at->second.state = State::held;
        queue.second.push_back(offset);
        at->second.key = &queue;
    }
    return at;
}

/// Begins an attempt, if the record is to be had now; else files it where it belongs.
bool RetryPartition::attempt(OpenAt at, RetryTask& task, const RetryTime& now) {
    const std::uint64_t offset = at->first;
    for (;;) {
        const TurnOf turn = attempts_->look(offset, now.ms);
        if (turn.turn != Turn::ready) {
            file(at, turn, now);
            return false;
        }
        if (turn.died) {
            at->second.died = true;
            ++news_.counts.died;
        }
        switch (task.copy.take(cursor_->reader(), files_.topic().name(), cursor_->partition(), offset)) {
            case Found::record:
                break;
            case Found::corrupt:
                if (is_damaged()) {
                    wait(at, now.ms + 1);
                    return false;
                }
                tell(offset, offset + 1, GapReason::corrupt);
                (void)attempts_->give_up(offset, DoneReason::skipped, now.ms);
                take_out(at);
                return false;
            default:  // gone: the next look finds the loss
                wait(at, now.ms + 1);
                return false;
        }
        const auto lock = attempts_->begin(offset, turn.word);
        if (!lock)
            continue;
        if (!files_.whole(cursor_->partition())) {  // nobody but this process knows of the attempt
            wait(at, now.ms + 1);
            return false;
        }
        unfile(at);
        at->second.state = State::in_hand;
        at->second.attempts = work_table::count_of(*lock);
        ++in_hand_;
        task.partition = cursor_->partition();
        task.tenure = tenure_;
        task.offset = offset;
        task.lock = *lock;
        task.attempt = {at->second.attempts, policy_.rules.delivery_limit, at->second.died};
        at->second.died = false;
        return true;
    }
}

void RetryPartition::look_at(OpenAt at, const RetryTime& now) {
    if (!at->second.last_error.empty())
        letters_.set_errors(at->first, at->second.first_error, at->second.last_error);
    file(at, attempts_->look(at->first, now.ms), now);
}

/// Where an open record belongs, that nobody has in hand.
void RetryPartition::file(OpenAt at, const TurnOf& turn, const RetryTime& now) {
    if (turn.died) {
        at->second.died = true;
        ++news_.counts.died;
    }
    at->second.attempts = std::max(at->second.attempts, turn.attempts);
    switch (turn.turn) {
        case Turn::fenced:
            end_tenure();
            return;
        case Turn::finished:
            finish(at, turn.how);
            return;
        case Turn::ready:
            wait(at, now.ms);
            return;
        case Turn::waits:
            wait(at, now.ms + work_table::until(*turn.due, now.ms));
            return;
        case Turn::condemned:
            break;
    }
    unfile(at);
    at->second.state = State::condemned;
    ++condemned_;
    if (!turn.due)
        return;  // for good
    at->second.due = now.ms + work_table::until(*turn.due, now.ms);
    letters_due_.emplace(at->second.due, at->first);
}

void RetryPartition::wait(OpenAt at, std::uint64_t due) {
    unfile(at);
    at->second.state = State::waiting;
    at->second.due = due;
    due_.emplace(due, at->first);
}

/// Out of whatever it was in; to be filed elsewhere, or taken out.
void RetryPartition::unfile(OpenAt at) noexcept {
    const std::pair place{at->second.due, at->first};
    switch (at->second.state) {
        case State::waiting:
            due_.erase(place);
            break;
        case State::held:
            break;
        case State::in_hand:
            --in_hand_;
            break;
        case State::condemned:
            letters_due_.erase(place);
            --condemned_;
            break;
    }
    at->second.state = State::held;
}

void RetryPartition::finish(OpenAt at, DoneReason how) {
    if (how == DoneReason::dead)
        ++news_.counts.dead_lettered;
    if (how == DoneReason::skipped)
        ++news_.counts.skipped;
    take_out(at);
}

void RetryPartition::take_out(OpenAt at) {
    unfile(at);
    const std::uint64_t offset = at->first;
    KeyQueue* const key = at->second.key;
    open_.erase(at);
    if (key == nullptr)
        return;
    auto& offsets = key->second;
    const bool first = offsets.front() == offset;
    std::erase(offsets, offset);
    if (offsets.empty()) {
        keys_.erase(key->first);
    } else if (first) {
        wait(open_.find(offsets.front()), 0);
    }
}

// --- answers ---

void RetryPartition::answer(const RetryTask& task, const Handled& handled, const RetryTime& now) {
    ++news_.counts.handled;
    const bool success = handled.what() == Handled::What::success;
    const bool recorded = record(task, handled.what(), now);
    if (!recorded) {
        ++news_.counts.late;
    } else {
        ++(success ? news_.counts.succeeded : news_.counts.failed);
    }
    const OpenAt at = in_hand_at(task);
    if (at == open_.end())
        return;
    if (success && recorded)
        return take_out(at);
    if (at->second.first_error.empty())
        at->second.first_error = handled.error();
    at->second.last_error = handled.error();
    look_at(at, now);
}

/// The words know of which tenure a lock is: an answer that comes after this one's end is right, or refused.
bool RetryPartition::record(const RetryTask& task, Handled::What what, const RetryTime& now) const noexcept {
    switch (what) {
        case Handled::What::success:
            return attempts_->succeed(task.offset, task.lock);
        case Handled::What::failure:
            return attempts_->fail(task.offset, task.lock, now.ms);
        case Handled::What::rejected:
            return attempts_->reject(task.offset, task.lock, now.ms);
    }
    return false;
}

/// The open record of a task; the end if the partition is not held any more, or anew.
RetryPartition::OpenAt RetryPartition::in_hand_at(const RetryTask& task) {
    return held() && task.tenure == tenure_ ? open_.find(task.offset) : open_.end();
}

void RetryPartition::give_back(const RetryTask& task, const RetryTime& now) {
    (void)attempts_->give_back(task.offset, task.lock, now.ms);
    if (const OpenAt at = in_hand_at(task); at != open_.end())
        look_at(at, now);
}

// --- losses ---

void RetryPartition::find_loss(const RetryTime& now) {
    const std::uint64_t log_start = attempts_->work().log_start();
    if (position_lost_ || log_start <= finished() || !is_lost(log_start))
        return;
    if (on_loss_ == OnLoss::error) {
        position_lost_ = true;
        return;
    }
    const std::uint64_t end = on_loss_ == OnLoss::latest ? std::max(log_start, cursor_->reader().log_end()) : log_start;
    if (!is_damaged())
        lose_before(end, now);
}

/// Records that nobody has in hand, and that are not finished.
bool RetryPartition::is_lost(std::uint64_t log_start) const noexcept {
    for (const auto& [offset, open] : open_) {
        if (offset >= log_start)
            break;
        if (open.state != State::in_hand && !awaits_letter(offset, open))
            return true;
    }
    if (log_start > start_ + attempts_->work().window())
        return true;
    for (std::uint64_t offset = next_; offset < log_start; ++offset) {
        if (!work_table::is_done(attempts_->work().word_of(offset), offset))
            return true;
    }
    return false;
}

/// Its letter was announced, and is looked for when it is due: it decides, not the loss of the record.
bool RetryPartition::awaits_letter(std::uint64_t offset, const Open& open) const noexcept {
    return open.state == State::condemned && letters_.usable() &&
           work_table::state_of(attempts_->work().word_of(offset)) == work_table::WorkState::intent;
}

/// False: the record stays, since nobody knows now whether its letter is there.
bool RetryPartition::lose(std::uint64_t offset, const RetryTime& now) {
    switch (attempts_->give_up(offset, DoneReason::lost, now.ms)) {
        case work_table::GivenUp::kept:
            return false;
        case work_table::GivenUp::done:
            tell(offset, offset + 1, GapReason::overwritten);
            break;
        case work_table::GivenUp::finished:
            break;
    }
    return true;
}

void RetryPartition::lose_before(std::uint64_t end, const RetryTime& now) {
    for (OpenAt at = open_.begin(); at != open_.end() && at->first < end;) {
        const OpenAt one = at++;
        if (one->second.state == State::in_hand)
            continue;
        if (lose(one->first, now)) {
            take_out(one);
        } else {
            look_at(one, now);
            if (!held())
                return;
        }
    }
    const std::uint64_t words_end = std::min(end, start_ + attempts_->work().window());
    for (; next_ < words_end; ++next_) {
        if (lose(next_, now))
            continue;
        look_at(open_.try_emplace(next_).first, now);
        if (!held())
            return;
    }
    if (next_ >= end)
        return;
    tell(next_, end, GapReason::overwritten);  // these never had words
    next_ = end;
}

void RetryPartition::tell(std::uint64_t from, std::uint64_t to, GapReason reason) {
    news_.add_gap({files_.topic().name(), cursor_->partition(), from, to, reason});
}

void RetryPartition::hold_up(const RetryTime& now) noexcept {
    if (cursor_->held_up_at(next_, now.ticks, policy_.patience_ticks) == Step::corrupt)
        status_ = Status::corrupt;
}

// --- what is told ---

std::optional<StoppedPartition> RetryPartition::stopped() const {
    if (!held())
        return std::nullopt;
    if (position_lost_)
        return StoppedPartition{cursor_->partition(), StopReason::position_lost, finished(), 0, {}};
    if (condemned_ == 0)
        return std::nullopt;
    const auto at =
        std::find_if(open_.begin(), open_.end(), [](const auto& one) { return one.second.state == State::condemned; });
    const StopReason why = policy_.stops       ? StopReason::exhausted
                           : letters_.usable() ? StopReason::letters_full
                                               : StopReason::letters_gone;
    return StoppedPartition{cursor_->partition(), why, at->first, at->second.attempts, at->second.last_error};
}

std::optional<std::uint64_t> RetryPartition::due_in_ms(const RetryTime& now) const noexcept {
    std::optional<std::uint64_t> due;
    if (!letters_due_.empty())
        due = letters_due_.begin()->first;
    if (may_attempt() && !due_.empty())
        due = std::min(due.value_or(~std::uint64_t{0}), due_.begin()->first);
    if (!due)
        return std::nullopt;
    return *due - std::min(*due, now.ms);
}

bool RetryPartition::ready() const noexcept { return may_scan() && cursor_->reader().is_decided(next_); }

bool RetryPartition::held_up() const noexcept { return may_scan() && cursor_->ready(next_); }

}  // namespace ringmain
