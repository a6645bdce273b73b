// Polling and visiting: fair over the partitions, waiting as the strategy says.
#include "consumer_impl.hpp"

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <string>
#include <utility>

#include "doorbell_sleep.hpp"
#include "error_about.hpp"
#include "platform/clock.hpp"
#include "platform/system_failure.hpp"
#include "reading_options.hpp"
#include "topic_paths.hpp"

namespace ringmain {

namespace {

const ConsumerOptions& checked(const ConsumerOptions& options) {
    check_reading(options.patience, options.buffer_bytes);
    return options;
}

void check_needs_no_group(const Position& position) {
    if (position.kind != Position::Kind::committed) return;
    throw error_about(ErrorCode::invalid_argument, "position 'committed'", "needs a consumer with a group");
}

void check_position(const Position& position) {
    if (position.kind != Position::Kind::offset || position.value <= kOffsetMax) return;
    throw error_about(ErrorCode::invalid_argument, "offset " + std::to_string(position.value),
                "is outside 0.." + std::to_string(kOffsetMax));
}

void check_gateable(const PartitionCursor& cursor) {
    const TopicFiles& topic = cursor.topic();
    if (topic.options().when_full != WhenFull::block) {
        throw error_about(ErrorCode::invalid_argument, "topic '" + topic.name() + "'",
                    "overwrites when full; only topics created with `block` can be gated");
    }
    if (!topic.readers_writable()) {
        throw platform::system_failure("write", readers_path(topic.directory()), EACCES);
    }
}

}  // namespace

Consumer::Impl::Impl(std::shared_ptr<Broker::Impl> broker, const ConsumerOptions& options)
    : broker_(std::move(broker)), fork_guard_(broker_->fork_guard()), options_(checked(options)), batch_(options.buffer_bytes) {
    patience_ticks_ = static_cast<std::uint64_t>(options.patience.count()) * platform::ticks_per_us() / 1000;
}

Consumer::Impl::~Impl() {
    if (fork_guard_.forked()) {
        (void)readiness_.release();  // its thread does not exist here
        return;
    }
    close_memberships(false);
    drop_gates();
}

void Consumer::Impl::check_not_forked() const {
    if (fork_guard_.forked()) {
        throw error_about(ErrorCode::forked, "consumer", "was inherited through fork(); open one of your own");
    }
}

std::size_t Consumer::Impl::find(std::string_view topic, std::uint32_t partition) const noexcept {
    const auto found = std::find_if(cursors_.begin(), cursors_.end(), [&](const auto& cursor) {
        return cursor->partition() == partition && cursor->topic().name() == topic;
    });
    return static_cast<std::size_t>(found - cursors_.begin());
}

PartitionCursor& Consumer::Impl::cursor(std::string_view topic, std::uint32_t partition) const {
    check_not_forked();
    const std::size_t index = find(topic, partition);
    if (index == cursors_.size()) {
        check_not_aside(topic, partition);
        throw error_about(ErrorCode::not_found, partition_text(topic, partition), "is not assigned to this consumer");
    }
    return *cursors_[index];
}

void Consumer::Impl::assign(const std::shared_ptr<const TopicFiles>& topic, std::uint32_t first, std::uint32_t count, Position from) {
    check_position(from);
    GroupMember* const bystander = group_ ? &take_part(topic, GroupMember::Role::bystander) : nullptr;
    const auto from_of = [&](std::uint32_t partition) { return bystander == nullptr ? from : resolved(*bystander, partition, from); };
    if (!group_) check_needs_no_group(from);
    auto [moved, fresh, damaged] = find_all(topic, first, count, bystander);
    for (const auto& cursor : fresh) cursor->seek(from_of(cursor->partition()));
    cursors_.reserve(cursors_.size() + fresh.size());
    aside_.reserve(aside_.size() + damaged.size());
    if (!gate_name_.empty()) hold_all(fresh, gate_name_);
    // nothing throws from here on
    for (const auto& cursor : moved) cursor->seek(from_of(cursor->partition()));
    for (auto& cursor : fresh) {
        const std::size_t index = find(topic->name(), cursor->partition());
        if (index == cursors_.size()) {
            cursors_.push_back(std::move(cursor));
        } else {
            cursors_[index] = std::move(cursor);  // the topic was created anew
        }
    }
    for (std::uint32_t partition = first; partition < first + count; ++partition) forget_aside(topic->name(), partition);
    for (const std::uint32_t partition : damaged) set_aside(topic, partition, from_of(partition), false);
    note_aside();
    if (readiness_) readiness_->disarm();
}

void Consumer::Impl::assign(std::string_view topic, Position from) {
    check_may_change();
    const auto files = broker_->open_topic(topic);
    assign(files, 0, files->options().partitions, from);
}

void Consumer::Impl::assign(std::string_view topic, std::uint32_t partition, Position from) {
    check_may_change();
    const auto files = broker_->open_topic(topic);
    if (partition >= files->options().partitions) {
        throw error_about(ErrorCode::not_found, partition_text(topic, partition),
                    "does not exist; the topic has partitions 0.." + std::to_string(files->options().partitions - 1));
    }
    assign(files, partition, 1, from);
}

/// Of subscribed topics the group says what is read, and holds producers back if it gates.
void Consumer::Impl::check_by_hand(const std::string& what) const {
    check_may_change();
    if (members_.empty() || members_.front()->role() == GroupMember::Role::bystander) return;
    throw error_about(ErrorCode::invalid_argument, what, "is not for a consumer that has subscribed");
}

void Consumer::Impl::unassign(std::string_view topic, std::uint32_t partition) {
    check_by_hand(partition_text(topic, partition));
    if (const std::size_t index = find(topic, partition); index != cursors_.size()) {
        cursors_[index]->drop_gate();
        cursors_.erase(cursors_.begin() + static_cast<std::ptrdiff_t>(index));
    } else if (const std::size_t before = aside_.size(); forget_aside(topic, partition), aside_.size() == before) {
        (void)cursor(topic, partition);  // not assigned: throws
    }
    next_ = 0;
    batch_.begin(0);
    forget_failures();
    if (readiness_) readiness_->disarm();
}

SeekResult Consumer::Impl::seek(std::string_view topic, std::uint32_t partition, Position to) {
    PartitionCursor& found = cursor(topic, partition);
    if (found.deleted()) throw error_about(ErrorCode::topic_deleted, partition_text(topic, partition), "was deleted");
    check_position(to);
    check_sound(found);
    const GroupMember* const member = member_of(topic);
    if (member == nullptr) check_needs_no_group(to);
    const SeekResult result = found.seek(member == nullptr ? to : resolved(*member, partition, to));
    if (readiness_) readiness_->disarm();
    return result;
}

Status Consumer::Impl::collect_from(PartitionCursor& cursor, std::size_t count) {
    if (cursor.gone()) return cursor.why();
    Step step = cursor.collect(batch_, count);
    if (step == Step::nothing) step = cursor.found_nothing(platform::ticks(), patience_ticks_);
    if (step == Step::lost) [[unlikely]] return Status::position_lost;
    return step == Step::corrupt ? Status::corrupt : Status::ok;
}

void Consumer::Impl::collect(std::size_t share) {
    const std::size_t partitions = cursors_.size();
    for (std::size_t turn = 0; turn < partitions && !batch_.full(); ++turn) {
        PartitionCursor& cursor = *cursors_[(next_ + turn) % partitions];
        const Status status = collect_from(cursor, std::min(share, batch_.wanted()));
        if (status != Status::ok) [[unlikely]] fail(cursor, status);
    }
}

void Consumer::Impl::fail(const PartitionCursor& cursor, Status status) { fail(cursor.topic().name(), cursor.partition(), status); }

void Consumer::Impl::fail(std::string_view topic, std::uint32_t partition, Status status) {
    last_status_ = status;
    last_failure_ = {topic, partition, status};
    const bool known = std::any_of(failures_.begin(), failures_.end(), [&](const PartitionFailure& failure) {
        return failure.topic == topic && failure.partition == partition;
    });
    if (!known) failures_.push_back(last_failure_);
}

bool Consumer::Impl::failed(const PartitionCursor& cursor, Status status) const noexcept {
    return std::any_of(failures_.begin(), failures_.end(), [&](const PartitionFailure& failure) {
        return failure.status == status && failure.partition == cursor.partition() && failure.topic == cursor.topic().name();
    });
}

/// Partitions of deleted topics, for ever; damaged ones until they can be read again.
void Consumer::Impl::drop_gone() {
    move_damaged_aside();
    const auto first = std::stable_partition(cursors_.begin(), cursors_.end(),
                                             [this](const auto& cursor) { return !failed(*cursor, Status::topic_deleted); });
    if (first == cursors_.end()) return;
    std::move(first, cursors_.end(), std::back_inserter(dropped_));
    cursors_.erase(first, cursors_.end());
    next_ = 0;
    if (readiness_) readiness_->disarm();
}

void Consumer::Impl::forget_failures() noexcept {
    last_status_ = Status::ok;
    last_failure_ = {};
    failures_.clear();
    dropped_.clear();
    past_members_.clear();
    past_topics_.clear();
}

bool Consumer::Impl::look_once() {
    if (!members_.empty()) keep_up();
    const std::size_t partitions = cursors_.size();
    if (partitions == 0) return last_status_ != Status::ok;
    collect(std::max<std::size_t>(1, batch_.wanted() / partitions));
    // what is left of the batch goes to whoever has more
    if (partitions > 1 && !batch_.empty()) collect(batch_.wanted());
    next_ = (next_ + 1) % partitions;
    if (!members_.empty()) check_delivered();
    if (last_status_ != Status::ok) [[unlikely]] drop_gone();
    return !batch_.empty() || last_status_ != Status::ok;
}

void Consumer::Impl::rearm() {
    Watch watch;
    watch.partitions.reserve(cursors_.size());
    for (const auto& cursor : cursors_) watch.partitions.push_back({cursor, cursor->position()});
    for (const auto& member : members_) {
        if (member->role() == GroupMember::Role::bystander) continue;
        watch.groups.push_back({member->files(), member->wake_word()});
        watch.at_most = std::min(watch.at_most, std::chrono::nanoseconds(member->sleep_max_ns()));
    }
    readiness_->arm(std::move(watch));
}

PollResult Consumer::Impl::poll(std::size_t records_max, std::chrono::nanoseconds timeout) {
    const UseScope scope(use_);
    if (!scope.entered()) return {Status::misuse, {}, {}};
    if (fork_guard_.forked()) return {Status::forked, {}, {}};
    if (last_status_ != Status::ok) [[unlikely]] begin_anew();
    batch_.begin(records_max);
    if (records_max == 0) {
        if (!members_.empty()) keep_up();
    } else if (!look_once()) {
        take_back();
        if (timeout.count() > 0) wait_and_look(timeout);
        if (readiness_ && batch_.empty() && last_status_ == Status::ok) rearm();
    }
    return {last_status_, batch_.records(), batch_.gaps(), failures_};
}

void Consumer::Impl::wait_and_look(std::chrono::nanoseconds timeout) {
    IdleWait idle(options_.wait, timeout);
    for (;;) {
        const IdleWait::Next next = idle.next();
        if (next == IdleWait::Next::sleep) {
            sleep(std::chrono::nanoseconds(idle.left_ns()));
            take_back();
        }
        if (look_once() || next == IdleWait::Next::stop) return;
    }
}

void Consumer::Impl::sleep(std::chrono::nanoseconds left) noexcept {
    DoorbellSleep sleep;
    for (const auto& member : members_) {
        if (member->role() == GroupMember::Role::bystander) continue;
        sleep.add(member->wake_word());
        left = std::min(left, std::chrono::nanoseconds(member->sleep_max_ns()));
    }
    for (const auto& cursor : cursors_) sleep.add(*cursor);
    sleep.fence();
    bool ready = false;
    for (const auto& cursor : cursors_) ready |= cursor->reader().is_decided(cursor->position()) || cursor->gone();
    if (ready) return;
    // an open ticket is in the way: look again after the patience
    for (const auto& cursor : cursors_) {
        if (cursor->ready(cursor->position())) left = std::min(left, options_.patience);
    }
    sleep.sleep(left);
}

VisitStatus Consumer::Impl::visit(void (*call)(void*, const ConsumerRecord&), void* handler) {
    const UseScope scope(use_);
    if (!scope.entered()) [[unlikely]] return stop_visit(Status::misuse);
    if (fork_guard_.forked()) [[unlikely]] return stop_visit(Status::forked);
    const Status told = last_status_;
    if (told != Status::ok) [[unlikely]] {
        begin_anew();
        if (last_status_ != Status::ok) return VisitStatus::stopped;
    }
    if (!members_.empty()) {
        keep_up();
        // what lasts (fenced_instance) is told once before the other topics go on
        if (last_status_ != Status::ok && last_status_ != told) [[unlikely]] return VisitStatus::stopped;
    }
    const std::size_t partitions = cursors_.size();
    for (std::size_t turn = 0; turn < partitions; ++turn) {
        PartitionCursor& cursor = *cursors_[next_];
        if (++next_ == partitions) next_ = 0;
        Step step = cursor.gone() ? Step::corrupt : cursor.find(visited_);
        if (step == Step::record) [[likely]] {
            if (!members_.empty() && !may_show(cursor)) [[unlikely]] return VisitStatus::empty;  // another member's by now
            call(handler, visited_);
            return cursor.confirm() ? VisitStatus::valid : VisitStatus::lapped;
        }
        if (step == Step::nothing) {
            step = cursor.found_nothing(platform::ticks(), patience_ticks_);
            if (step == Step::nothing) continue;
        }
        if (step == Step::gap) {
            last_gap_ = cursor.gap();
            return VisitStatus::gap;
        }
        fail(cursor, cursor.gone() ? cursor.why() : step == Step::lost ? Status::position_lost : Status::corrupt);
        drop_gone();
        return VisitStatus::stopped;
    }
    if (last_status_ != Status::ok) [[unlikely]] return VisitStatus::stopped;
    take_back();
    if (readiness_) rearm();
    return VisitStatus::empty;
}

VisitStatus Consumer::Impl::stop_visit(Status why) noexcept {
    last_status_ = why;
    return VisitStatus::stopped;
}

void Consumer::Impl::hold_gates(std::string_view name) {
    check_not_forked();
    if (name.empty() || name.size() > layout::kGateNameMax) {
        throw error_about(ErrorCode::invalid_argument, "gate '" + std::string(name) + "'",
                    "a name has 1.." + std::to_string(layout::kGateNameMax) + " bytes, this one " + std::to_string(name.size()));
    }
    check_by_hand("gate '" + std::string(name) + "'");
    if (!gate_name_.empty() && gate_name_ != name) {
        throw error_about(ErrorCode::invalid_argument, "gate '" + std::string(name) + "'",
                    "cannot be held: this consumer holds '" + gate_name_ + "'; drop that first");
    }
    std::string kept(name);
    hold_all(cursors_, name);
    gate_name_ = std::move(kept);
}

/// All of them, or none that did not have one before.
void Consumer::Impl::hold_all(std::span<const std::shared_ptr<PartitionCursor>> cursors, std::string_view name) {
    for (const auto& cursor : cursors) check_gateable(*cursor);
    std::vector<PartitionCursor*> held;
    held.reserve(cursors.size());
    try {
        for (const auto& cursor : cursors) {
            if (cursor->gated()) continue;
            cursor->hold_gate(*broker_, name);
            held.push_back(cursor.get());
        }
    } catch (...) {
        for (PartitionCursor* cursor : held) cursor->drop_gate();
        throw;
    }
}

void Consumer::Impl::move_gates() noexcept {
    for (const auto& cursor : cursors_) cursor->move_gate();
}

void Consumer::Impl::drop_gates() noexcept {
    for (const auto& cursor : cursors_) cursor->drop_gate();
    gate_name_.clear();
}

int Consumer::Impl::descriptor() {
    check_not_forked();
    if (!readiness_) readiness_ = std::make_unique<Readiness>();
    return readiness_->descriptor();
}

}  // namespace ringmain
