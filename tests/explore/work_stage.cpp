// The queue of scenarios, and what may become of its records.
#include "explore/work_stage.hpp"

#include <cstring>

namespace ringmain::explore {

using work_table::Answer;
using work_table::Answered;
using work_table::DoneReason;
using work_table::Received;

namespace {

constexpr test::PlainShape kLogShape{.records = 8, .producer_slots = 4, .extents = 0, .extent_bytes = 0};
constexpr layout::GroupsGeometry kGroups{1, 1, 1, 0};

bool has_fallen(unsigned thread) { return thread < kThreadsMax && fell(thread); }

bool somebody_fell() {
    for (unsigned thread = 0; thread < kThreadsMax; ++thread) {
        if (fell(thread))
            return true;
    }
    return false;
}

}  // namespace

// Two have one record only if the lock of the first was over when the second took it, or its holder has fallen.
void RecordsOracle::took(unsigned thread, const Hand& hand, bool current, std::uint64_t now) {
    Record& record = records_[hand.offset];
    const std::uint32_t count = work_table::count_of(hand.lock);
    ++record.deliveries;
    require(rules_.delivery_limit == 0 || count <= rules_.delivery_limit, "a record is delivered too often");
    if (!current)
        return;  // it is another's by now, or finished
    require(!record.acked, "a record is delivered that was acked");
    require(!record.lost, "a record is delivered that was told to be lost");
    if (record.holder != kNobody && record.holder != thread && !has_fallen(record.holder)) {
        const std::uint64_t wait = rules_.backoff(hand.offset, work_table::count_of(record.lock));
        // who fell may have taken it in between, by a later clock
        const std::uint64_t clock = somebody_fell() ? latest_ : now;
        require(work_table::late(work_table::time_of(record.lock) + wait, clock), "two workers have one record");
    }
    const bool waited = record.due && count > record.given_back;
    require(!waited || work_table::late(*record.due, now), "a record is delivered before its delay is over");
    holds(thread, hand);
}

void RecordsOracle::holds(unsigned thread, const Hand& hand) noexcept {
    records_[hand.offset].holder = thread;
    records_[hand.offset].lock = hand.lock;
}

void RecordsOracle::answers(unsigned thread, std::uint64_t offset, bool acks) noexcept {
    Record& record = records_[offset];
    record.acking[thread] = acks;
    if (record.holder == thread)
        record.holder = kNobody;
}

void RecordsOracle::answered(unsigned thread, std::uint64_t offset, bool acked) {
    Record& record = records_[offset];
    record.acking[thread] = false;
    if (!acked)
        return;
    require(!record.acked, "two acks of one record count");
    require(!record.lost, "a record is acked that was told to be lost");
    record.acked = true;
}

void RecordsOracle::waits_until(std::uint64_t offset, std::uint64_t due, std::uint64_t lock) noexcept {
    records_[offset].due = due;
    records_[offset].given_back = work_table::count_of(lock);
}

void RecordsOracle::told_lost(std::uint64_t offset) {
    Record& record = records_[offset];
    require(!record.lost, "a loss is told twice");
    require(!record.acked, "a record is told to be lost that was acked");
    record.lost = true;
}

bool RecordsOracle::may_be_acked(std::uint64_t offset) const noexcept {
    for (unsigned thread = 0; thread < kThreadsMax; ++thread) {
        if (records_[offset].acking[thread] && fell(thread))
            return true;
    }
    return false;
}

std::size_t QueueStage::bytes(const QueueShape& shape) noexcept {
    return 2 * test::plain_bytes(kLogShape) + layout::groups_file_bytes(kGroups) +
           2 * layout::work_file_bytes(shape.window) +
           test::page_up(shape.workers * sizeof(layout::WorkerSlot<platform::HostMemory>)) + layout::kPageBytes;
}

QueueStage::QueueStage(const QueueShape& shape, const Bounds& bounds, unsigned threads)
    : Scenario(bounds, threads), shape_(shape), memory_(bytes(shape)) {
    std::byte* base = memory_.data();
    const auto take = [&base](std::size_t size) { return std::exchange(base, base + size); };
    std::byte* const log_base = take(test::plain_bytes(kLogShape));
    std::byte* const letters_base = take(test::plain_bytes(kLogShape));
    log_ = test::plain_view<M>(log_base, kLogShape);
    letters_ = test::plain_view<M>(letters_base, kLogShape);
    groups_ = {take(layout::groups_file_bytes(kGroups)), kGroups};
    for (std::byte*& file : files_)
        file = take(layout::work_file_bytes(shape.window));
    letters_gone_ = reinterpret_cast<M::Atomic<std::uint64_t>*>(take(layout::kPageBytes));
    workers_ = {reinterpret_cast<layout::WorkerSlot<M>*>(base), shape.workers};
    share({memory_.data(), bytes(shape)});
    keep_calm_what_nobody_changes(log_base, letters_base);
}

void QueueStage::keep_calm_what_nobody_changes(std::byte* log_base, std::byte* letters_base) {
    const auto control_bytes = static_cast<std::size_t>(log_.cells - log_base);
    if (!shape_.retention)
        keep_calm(log_base, control_bytes);
    keep_calm(log_.cells, test::plain_bytes(kLogShape) - control_bytes);
    if (!shape_.letters)
        keep_calm(letters_base, test::plain_bytes(kLogShape));
    if (!shape_.letters_go)
        keep_calm(letters_gone_, sizeof *letters_gone_);
    const auto& group = groups_.group(0);
    keep_calm(&group.born, sizeof group.born);
    for (std::byte* const file : files_) {
        const auto& control = *reinterpret_cast<layout::WorkControl<M>*>(file + layout::kWorkControlAt);
        keep_calm(&control.expired, 7 * sizeof control.expired);
    }
}

work_table::WorkMemory<ExploredMemory> QueueStage::work(std::uint32_t generation) const noexcept {
    const layout::WorkGeometry geometry{group_.born, group_.slot, 0, shape_.window, generation, 0};
    return {files_[shape_.stream ? 0 : generation % 2], geometry, groups_, log_};
}

void QueueStage::set_up() {
    for (const Log& log : {log_, letters_}) {
        for (std::uint32_t slot = 0; slot < log.producer_slots; ++slot) {
            log.producers[slot].generation.store(1, std::memory_order_relaxed);
            log.producers[slot].owner.store(client_of(slot), std::memory_order_relaxed);
        }
    }
    group_table::GroupCreation<M> creation(groups_, client_of(0));
    group_ = creation
                 .find_or_create(
                     "q", {.kind = group_table::GroupKind::queue}, [](std::uint32_t) { return 0; },
                     [](std::uint64_t) { return false; })
                 .group;
    generation_ = groups_.word(0, 0).generation;
    partition_log::SharedPublisher<M> publisher(log_, 0, 1);
    for (std::uint64_t i = 0; i < shape_.records; ++i) {
        const std::uint64_t value = i;
        partition_log::RecordParts parts;
        parts.value = reinterpret_cast<const std::byte*>(&value);
        parts.value_bytes = sizeof value;
        parts.flags = layout::kNullKey;
        (void)publisher.publish(parts);
    }
    for (std::uint32_t slot = 0; slot < threads(); ++slot)
        workers_.slot(slot).owner.store(client_of(slot), std::memory_order_relaxed);
    now_ = kNow;
    if (shape_.held == 0)
        return;
    Worker first(*this, 0);
    (void)first.acquire(shape_.held);
    first_hands_ = first.records.held;
}

void QueueStage::begin() {
    oracle_.begin();
    now_ = kNow;
    for (unsigned i = 0; i < shape_.held; ++i)
        oracle_.holds(0, first_hands_[i]);
}

void QueueStage::finish() { finish_all(); }

void QueueStage::finish_all() {
    Worker last(*this, shape_.workers - 1);
    for (unsigned round = 0; round < 12; ++round) {
        pass_a_lock();
        pass(work_table::kLetterLockMs);
        last.records.count = 0;
        (void)last.acquire(4);
        for (std::size_t i = 0; i < last.records.count; ++i)
            require(last.ack(last.records.held[i]).answer == Answer::done, "an honest worker is refused");
    }
    for (std::uint64_t offset = 0; offset < shape_.records; ++offset)
        check_record(offset);
    require(work().start() == shape_.records, "the window does not come to the end");
}

// Each record ends in one way, and somebody knows of it.
void QueueStage::check_record(std::uint64_t offset) const {
    const std::uint64_t last = word(offset);
    const unsigned letters = letters_about(offset);
    require(letters <= 1, "two letters about one record");
    require(!oracle_.was_acked(offset) || letters == 0, "a record was acked and has a letter");
    if (!work_table::is_done(last, offset)) {
        require(work_table::state_of(last) == work_table::WorkState::done, "a record is not finished");
        require(oracle_.was_acked(offset) || oracle_.may_be_acked(offset) || letters == 1 || oracle_.was_lost(offset),
                "the window has passed a record that is not finished");
        return;
    }
    switch (work_table::done_reason(last)) {
        case DoneReason::acked:
            require(oracle_.was_acked(offset) || oracle_.may_be_acked(offset), "a record ends as acked by nobody");
            break;
        case DoneReason::dead:
            require(letters == 1, "a record is dead without a letter");
            return;
        case DoneReason::lost:
        case DoneReason::skipped:
            require(!oracle_.was_acked(offset), "a record was acked and ends as lost");
            break;
    }
    require(letters == 0, "a letter about a record that is not dead");
}

unsigned QueueStage::letters_about(std::uint64_t offset) const {
    unsigned count = 0;
    const std::uint64_t end = shape_.letters ? letters_.control->log_end.load(std::memory_order_relaxed) : 0;
    for (std::uint64_t at = letters_from_; at < end; ++at) {
        const test::ReadBack back = test::read_back(letters_, at);
        std::uint64_t about = 0;
        if (back.found != partition_log::Found::record)
            continue;
        std::memcpy(&about, back.value.data(), sizeof about);
        count += about == offset ? 1 : 0;
    }
    return count;
}

work_table::Peeked QueueStage::Records::peek(std::uint64_t offset) noexcept {
    partition_log::RecordView view;
    const partition_log::Reader<M> reader(stage_->log_);
    const partition_log::Found found = reader.look(offset, view);
    return {found == partition_log::Found::record && !reader.valid(offset) ? partition_log::Found::lapped : found};
}

Received QueueStage::Records::copy(std::uint64_t offset) noexcept {
    if (count == held.size())
        return Received::full;
    return peek(offset).found == partition_log::Found::record ? Received::record : Received::gone;
}

void QueueStage::Records::took(std::uint64_t offset, std::uint64_t word) noexcept {
    held[count] = {offset, word};
    stage_->oracle_.took(this_thread(), held[count], stage_->word(offset) == word, now);
    ++count;
}

void QueueStage::Records::lost(std::uint64_t from, std::uint64_t to) noexcept {
    for (std::uint64_t offset = from; offset < to; ++offset)
        stage_->oracle_.told_lost(offset);
}

work_table::LetterTicket QueueStage::Letters::take_ticket() noexcept {
    const partition_log::Published taken = publisher_.take_ticket();
    return {taken.status, taken.offset};
}

work_table::Sent QueueStage::Letters::commit_at(std::uint64_t ticket, const work_table::LetterOf& about) noexcept {
    partition_log::RecordParts parts;
    parts.value = reinterpret_cast<const std::byte*>(&about.offset);
    parts.value_bytes = sizeof about.offset;
    parts.flags = layout::kNullKey;
    const auto committed = publisher_.commit_at(ticket, parts);
    require(committed.status == Status::ok, "a letter has no room");
    return committed.decision == partition_log::Decision::committed ? work_table::Sent::committed
                                                                    : work_table::Sent::closed;
}

partition_log::Decision QueueStage::Letters::close(std::uint64_t ticket) const noexcept {
    if (ticket >= log_.control->log_end.load(std::memory_order_acquire))
        return partition_log::Decision::impossible;
    return partition_log::close_ticket(log_, ticket);
}

std::size_t QueueStage::Worker::acquire(std::size_t count, std::uint64_t now) {
    records.now = now;
    stage_->oracle_.asks(now);
    return acquiring_.acquire(count, now, records).records;
}

void QueueStage::Worker::begins(const Hand& hand, bool acks) noexcept {
    stage_->oracle_.answers(this_thread(), hand.offset, acks);
}

Answered QueueStage::Worker::judged(const Hand& hand, Answered answered, bool acks) {
    require(answered.answer != Answer::invalid, "a worker's own lock is none");
    require(answered.answer != Answer::taken || !answered.slot || *answered.slot != slot_,
            "who is refused is told of itself");
    stage_->oracle_.answered(this_thread(), hand.offset, acks && answered.answer == Answer::done);
    return answered;
}

Answered QueueStage::Worker::ack(const Hand& hand) {
    begins(hand, true);
    return judged(hand, settling_.ack(hand.offset, hand.lock), true);
}

Answered QueueStage::Worker::nack(const Hand& hand, std::optional<std::uint64_t> delay_ms) {
    const std::uint64_t now = stage_->now_;
    begins(hand, false);
    const Answered answered = judged(hand, settling_.nack(hand.offset, hand.lock, delay_ms, now), false);
    if (answered.answer == Answer::done && delay_ms && !answered.ended)
        stage_->oracle_.waits_until(hand.offset, now + *delay_ms, hand.lock);
    return answered;
}

Answered QueueStage::Worker::release(const Hand& hand) {
    begins(hand, false);
    return judged(hand, settling_.release(hand.offset, hand.lock, stage_->now_), false);
}

Answered QueueStage::Worker::reject(const Hand& hand) {
    begins(hand, false);
    return judged(hand, settling_.reject(hand.offset, hand.lock, stage_->now_), false);
}

// Nobody takes by the old lock what was renewed: the one exchange decides.
Answered QueueStage::Worker::renew(Hand& hand, std::uint64_t lock_ms) {
    begins(hand, false);
    const Answered answered = settling_.renew(hand.offset, hand.lock, lock_ms, stage_->now_);
    if (answered.answer == Answer::done && stage_->word(hand.offset) == hand.lock)
        stage_->oracle_.holds(this_thread(), hand);
    return judged(hand, answered, false);
}

std::string QueueStage::name_of_location(const void* address) const {
    const auto* const at = static_cast<const std::byte*>(address);
    const auto named = [&](const char* name, const void* base, std::size_t each, std::size_t count) -> std::string {
        const auto offset = static_cast<std::size_t>(at - static_cast<const std::byte*>(base));
        if (offset >= each * count)
            return {};
        return std::string(name) + '[' + std::to_string(offset / each) + "]+" + std::to_string(offset % each);
    };
    if (address == &log_.control->log_start)
        return "log_start";
    if (address == &letters_.control->log_end)
        return "letters_end";
    if (address == letters_gone_)
        return "letters_gone";
    for (const std::string& name :
         {named("word in file 0 ", files_[0] + layout::kWorkWordsAt, 8, shape_.window),
          named("word in file 1 ", files_[1] + layout::kWorkWordsAt, 8, shape_.window),
          named("control of file 0", files_[0] + layout::kWorkControlAt, layout::kPageBytes, 1),
          named("control of file 1", files_[1] + layout::kWorkControlAt, layout::kPageBytes, 1),
          named("letter", letters_.cells, std::size_t{1} << letters_.cell_shift, 8),
          named("letters' producer", letters_.producers, sizeof *letters_.producers, letters_.producer_slots),
          named("worker", &workers_.slot(0), sizeof workers_.slot(0), shape_.workers),
          named("partition", &groups_.cell(0, 0), sizeof groups_.cell(0, 0), 1),
          named("group", &groups_.group(0), sizeof groups_.group(0), 1)}) {
        if (!name.empty())
            return name;
    }
    return Scenario::name_of_location(address);
}

}  // namespace ringmain::explore
