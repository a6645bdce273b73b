// Polling and visiting: fair over the partitions, waiting as the strategy says.
#include "consumer_impl.hpp"

#include <algorithm>
#include <cerrno>
#include <string>

#include "doorbell_sleep.hpp"
#include "error_about.hpp"
#include "platform/clock.hpp"
#include "platform/system_failure.hpp"
#include "topic_paths.hpp"

namespace ringmain {

namespace {

const ConsumerOptions& checked(const ConsumerOptions& options) {
    using namespace std::chrono_literals;
    if (options.patience < 1us || options.patience > 1s) {
        throw error_about(ErrorCode::invalid_argument, "patience",
                    "of " + std::to_string(options.patience.count()) + " ns is outside 1000..1000000000");
    }
    if (options.buffer_bytes == 0 || options.buffer_bytes > (std::size_t{1} << 40)) {
        throw error_about(ErrorCode::invalid_argument, "buffer_bytes",
                    "of " + std::to_string(options.buffer_bytes) + " is outside 1..1099511627776");
    }
    return options;
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
        throw error_about(ErrorCode::not_found, partition_text(topic, partition), "is not assigned to this consumer");
    }
    return *cursors_[index];
}

void Consumer::Impl::assign(const std::shared_ptr<const TopicFiles>& topic, std::uint32_t partition, Position from) {
    const std::size_t index = find(topic->name(), partition);
    auto fresh = std::make_shared<PartitionCursor>(topic, partition);
    fresh->seek(from);
    if (index == cursors_.size()) {
        cursors_.push_back(std::move(fresh));
    } else if (cursors_[index]->topic().id() == topic->id()) {
        cursors_[index]->seek(from);
    } else {
        cursors_[index] = std::move(fresh);  // the topic was created anew
    }
}

void Consumer::Impl::assign(std::string_view topic, Position from) {
    check_not_forked();
    const auto files = broker_->open_topic(topic);
    for (std::uint32_t partition = 0; partition < files->options().partitions; ++partition) assign(files, partition, from);
    if (readiness_) readiness_->disarm();
}

void Consumer::Impl::assign(std::string_view topic, std::uint32_t partition, Position from) {
    check_not_forked();
    const auto files = broker_->open_topic(topic);
    if (partition >= files->options().partitions) {
        throw error_about(ErrorCode::not_found, partition_text(topic, partition),
                    "does not exist; the topic has partitions 0.." + std::to_string(files->options().partitions - 1));
    }
    assign(files, partition, from);
    if (readiness_) readiness_->disarm();
}

void Consumer::Impl::unassign(std::string_view topic, std::uint32_t partition) {
    cursor(topic, partition).drop_gate();
    cursors_.erase(cursors_.begin() + static_cast<std::ptrdiff_t>(find(topic, partition)));
    next_ = 0;
    batch_.begin(0);
    if (readiness_) readiness_->disarm();
}

SeekResult Consumer::Impl::seek(std::string_view topic, std::uint32_t partition, Position to) {
    PartitionCursor& found = cursor(topic, partition);
    if (found.deleted()) throw error_about(ErrorCode::topic_deleted, partition_text(topic, partition), "was deleted");
    const SeekResult result = found.seek(to);
    if (readiness_) readiness_->disarm();
    return result;
}

Status Consumer::Impl::collect_from(PartitionCursor& cursor, std::size_t count) {
    if (cursor.deleted()) return Status::topic_deleted;
    const Step step = cursor.collect(batch_, count);
    if (step == Step::nothing) cursor.found_nothing(platform::ticks(), patience_ticks_);
    return step == Step::corrupt ? Status::corrupt : Status::ok;
}

void Consumer::Impl::collect(std::size_t share) {
    const std::size_t partitions = cursors_.size();
    for (std::size_t turn = 0; turn < partitions && !batch_.full(); ++turn) {
        PartitionCursor& cursor = *cursors_[(next_ + turn) % partitions];
        const Status status = collect_from(cursor, std::min(share, batch_.wanted()));
        if (status != Status::ok) last_status_ = status;
    }
}

bool Consumer::Impl::look_once() {
    const std::size_t partitions = cursors_.size();
    if (partitions == 0) return false;
    collect(std::max<std::size_t>(1, batch_.wanted() / partitions));
    // what is left of the batch goes to whoever has more
    if (partitions > 1 && !batch_.empty()) collect(batch_.wanted());
    next_ = (next_ + 1) % partitions;
    return !batch_.empty() || last_status_ != Status::ok;
}

void Consumer::Impl::rearm() {
    std::vector<Watched> watched;
    watched.reserve(cursors_.size());
    for (const auto& cursor : cursors_) watched.push_back({cursor, cursor->position()});
    readiness_->arm(std::move(watched));
}

PollResult Consumer::Impl::poll(std::size_t records_max, std::chrono::nanoseconds timeout) {
    const UseScope scope(use_);
    if (!scope.entered()) return {Status::misuse, {}, {}};
    if (fork_guard_.forked()) return {Status::forked, {}, {}};
    last_status_ = Status::ok;
    batch_.begin(records_max);
    if (records_max != 0 && !look_once()) {
        if (timeout.count() > 0) wait_and_look(timeout);
        if (readiness_ && batch_.empty() && last_status_ == Status::ok) rearm();
    }
    return {last_status_, batch_.records(), batch_.gaps()};
}

void Consumer::Impl::wait_and_look(std::chrono::nanoseconds timeout) {
    IdleWait idle(options_.wait, timeout);
    for (;;) {
        const IdleWait::Next next = idle.next();
        if (next == IdleWait::Next::sleep) sleep(std::chrono::nanoseconds(idle.left_ns()));
        if (look_once() || next == IdleWait::Next::stop) return;
    }
}

void Consumer::Impl::sleep(std::chrono::nanoseconds left) noexcept {
    DoorbellSleep sleep;
    for (const auto& cursor : cursors_) sleep.add(*cursor);
    sleep.fence();
    bool ready = false;
    for (const auto& cursor : cursors_) ready |= cursor->reader().is_decided(cursor->position()) || cursor->deleted();
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
    last_status_ = Status::ok;
    const std::size_t partitions = cursors_.size();
    for (std::size_t turn = 0; turn < partitions; ++turn) {
        PartitionCursor& cursor = *cursors_[next_];
        if (++next_ == partitions) next_ = 0;
        const Step step = cursor.deleted() ? Step::corrupt : cursor.find(visited_);
        if (step == Step::record) [[likely]] {
            call(handler, visited_);
            return cursor.confirm() ? VisitStatus::valid : VisitStatus::lapped;
        }
        if (step == Step::nothing) {
            cursor.found_nothing(platform::ticks(), patience_ticks_);
            continue;
        }
        if (step == Step::gap) {
            last_gap_ = cursor.gap();
            return VisitStatus::gap;
        }
        return stop_visit(cursor.deleted() ? Status::topic_deleted : Status::corrupt);
    }
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
    for (const auto& cursor : cursors_) {
        if (cursor->topic().options().when_full != WhenFull::block) {
            throw error_about(ErrorCode::invalid_argument, "topic '" + cursor->topic().name() + "'",
                        "overwrites when full; only topics created with `block` can be gated");
        }
        if (!cursor->topic().readers_writable()) {
            throw platform::system_failure("write", readers_path(cursor->topic().directory()), EACCES);
        }
    }
    for (const auto& cursor : cursors_) cursor->hold_gate(*broker_, name);
}

void Consumer::Impl::move_gates() noexcept {
    for (const auto& cursor : cursors_) cursor->move_gate();
}

void Consumer::Impl::drop_gates() noexcept {
    for (const auto& cursor : cursors_) cursor->drop_gate();
}

int Consumer::Impl::descriptor() {
    check_not_forked();
    if (!readiness_) readiness_ = std::make_unique<Readiness>();
    return readiness_->descriptor();
}

}  // namespace ringmain
