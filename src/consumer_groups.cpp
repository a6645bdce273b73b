// A consumer with a group: subscribing, what the listener is told, commits over several topics, and closing.
#include <algorithm>
#include <string>
#include <utility>

#include "consumer_impl.hpp"
#include "error_about.hpp"
#include "group_options_check.hpp"

namespace ringmain {

namespace {

using group_table::CommitStatus;

[[noreturn]] void refuse(const std::string& object, const std::string& what) { throw error_about(ErrorCode::invalid_argument, object, what); }

CommitOutcome outcome_of(CommitStatus status) noexcept {
    switch (status) {
        case CommitStatus::committed: return CommitOutcome::committed;
        case CommitStatus::not_applied: return CommitOutcome::not_applied;
        case CommitStatus::stale: return CommitOutcome::stale;
        case CommitStatus::beyond_position: return CommitOutcome::beyond_position;
        case CommitStatus::fenced: return CommitOutcome::fenced;
        case CommitStatus::invalid: return CommitOutcome::not_assigned;
    }
    return CommitOutcome::not_assigned;
}

PartitionCommit answer_of(const TopicFiles& topic, const group_table::CommitItem& item) noexcept {
    PartitionCommit commit{topic.name(), item.tenure.partition, outcome_of(item.status), item.offset, item.committed};
    commit.generation = item.tenure.generation;
    commit.current_generation = item.status == CommitStatus::fenced ? item.their_generation : item.tenure.generation;
    commit.let_go = item.let_go;
    return commit;
}

}  // namespace

Consumer::Impl::Impl(std::shared_ptr<Broker::Impl> broker, const GroupOptions& group, const ConsumerOptions& options)
    : Impl(std::move(broker), options) {
    check_group_options(group);
    group_ = group;
}

// --- memberships ---

const GroupMember* Consumer::Impl::member_of(std::string_view topic) const noexcept {
    const auto found = std::find_if(members_.begin(), members_.end(), [&](const auto& member) { return member->topic().name() == topic; });
    return found == members_.end() ? nullptr : found->get();
}

GroupMember* Consumer::Impl::member_of(std::string_view topic) noexcept {
    return const_cast<GroupMember*>(std::as_const(*this).member_of(topic));
}

GroupMember& Consumer::Impl::take_part(const std::shared_ptr<const TopicFiles>& topic, GroupMember::Role role) {
    if (role == GroupMember::Role::member && cursors_.empty()) {  // nothing is assigned by hand any more
        std::erase_if(members_, [](const auto& member) { return member->role() == GroupMember::Role::bystander; });
    }
    for (const auto& member : members_) {
        if (member->role() != role) {
            refuse("topic '" + topic->name() + "'", "cannot be added: a consumer either subscribes or is assigned partitions by hand");
        }
    }
    GroupMember* const known = member_of(topic->name());
    if (known != nullptr && known->topic().id() == topic->id() && !known->gone()) return *known;
    auto fresh = std::make_unique<GroupMember>(broker_, topic, *group_, role, static_cast<GroupMember::Listener&>(*this));
    members_.reserve(members_.size() + 1);
    if (known == nullptr) return *members_.emplace_back(std::move(fresh));
    // the topic or the group was created anew
    const auto place = std::find_if(members_.begin(), members_.end(), [&](const auto& member) { return member.get() == known; });
    past_members_.push_back(std::exchange(*place, std::move(fresh)));
    if (role == GroupMember::Role::member) read_what_is_held();
    return **place;
}

Position Consumer::Impl::resolved(const GroupMember& member, std::uint32_t partition, Position position) const {
    return position.kind == Position::Kind::committed ? Position::at(member.word(partition).committed) : position;
}

void Consumer::Impl::subscribe(std::string_view topic) {
    check_may_change();
    if (!group_) refuse("topic '" + std::string(topic) + "'", "cannot be subscribed to: the consumer has no group");
    if (!gate_name_.empty()) refuse("topic '" + std::string(topic) + "'", "cannot be subscribed to: gates are held; a group gates by its own option");
    (void)take_part(broker_->open_topic(topic), GroupMember::Role::member);
    note_aside();
    std::size_t partitions = 0;
    for (const auto& one : members_) partitions += one->topic().options().partitions;
    cursors_.reserve(partitions);  // polls that take partitions allocate nothing
    failures_.reserve(partitions + members_.size());
    if (readiness_) readiness_->disarm();
}

void Consumer::Impl::unsubscribe(std::string_view topic) {
    check_may_change();
    const auto found = std::find_if(members_.begin(), members_.end(), [&](const auto& member) {
        return member->topic().name() == topic && member->role() == GroupMember::Role::member;
    });
    if (found == members_.end()) throw error_about(ErrorCode::not_found, "topic '" + std::string(topic) + "'", "is not subscribed to");
    const UseScope scope(use_);
    if (!scope.entered()) throw error_about(ErrorCode::busy, "consumer", "is in use by another thread");
    batch_.begin(0);
    forget_failures();
    commits_.clear();
    (*found)->tell_leaving();
    (*found)->leave(group_->delivery == Delivery::at_least_once);
    members_.erase(found);
    read_what_is_held();
}

void Consumer::Impl::keep_up() {
    bool changed = false;
    bool ended = false;
    for (const auto& member : members_) {
        const Status status = member->keep_up();
        changed |= member->take_changed();
        if (status == Status::ok) [[likely]] continue;
        last_status_ = status;
        last_failure_ = {member->topic().name(), kWholeTopic, status};
        failures_.push_back(last_failure_);
        ended |= member->ended();
    }
    if (!changed && !ended) [[likely]] return;
    if (ended) {
        const auto first = std::stable_partition(members_.begin(), members_.end(), [](const auto& member) { return !member->ended(); });
        std::move(first, members_.end(), std::back_inserter(past_members_));
        members_.erase(first, members_.end());
    }
    read_what_is_held();
}

void Consumer::Impl::read_what_is_held() {
    cursors_.clear();
    for (const auto& member : members_) {
        for (std::uint32_t p = 0; p < member->topic().options().partitions; ++p) {
            if (member->holds(p)) cursors_.push_back(member->cursor(p));
        }
    }
    next_ = 0;
    if (readiness_) readiness_->disarm();
}

void Consumer::Impl::check_delivered() {
    bool changed = false;
    for (const auto& member : members_) {
        member->check_delivered(batch_, at_most_once());
        changed |= member->take_changed();
    }
    if (changed) [[unlikely]] read_what_is_held();
}

bool Consumer::Impl::may_show(const PartitionCursor& cursor) {
    GroupMember* const member = member_of(cursor.topic().name());
    if (member->role() == GroupMember::Role::bystander) return true;
    const bool may = member->may_show(cursor.partition(), at_most_once());
    if (member->take_changed()) [[unlikely]] read_what_is_held();
    return may;
}

std::vector<TopicPartition> Consumer::Impl::assignment() const {
    check_not_forked();
    std::vector<TopicPartition> all;
    for (const auto& cursor : cursors_) all.push_back({cursor->topic().name(), cursor->partition()});
    return all;
}

std::optional<std::uint64_t> Consumer::Impl::committed(std::string_view topic, std::uint32_t partition) const {
    (void)cursor(topic, partition);
    const GroupMember* const member = member_of(topic);
    if (member == nullptr) throw error_about(ErrorCode::not_found, partition_text(topic, partition), "has no group here");
    const group_table::PartitionWord word = member->word(partition);
    return word.touched ? std::optional(word.committed) : std::nullopt;
}

// --- the listener ---

/// Subscriptions and assignments stay as they are while a call of the consumer is in the middle of them.
void Consumer::Impl::check_may_change() const {
    check_not_forked();
    if (in_listener_) throw error_about(ErrorCode::busy, "consumer", "is calling its listener, which may commit and seek only");
}

void Consumer::Impl::notify(const GroupListener::Call& listener, const GroupMember& member, GroupMember::Partitions partitions) {
    if (!listener) return;
    read_what_is_held();  // the listener may seek and commit what it is told of
    std::vector<TopicPartition> named;
    for (const std::uint32_t partition : partitions) named.push_back({member.topic().name(), partition});
    in_listener_ = true;
    listener(named);
    in_listener_ = false;
}

void Consumer::Impl::assigned(const GroupMember& member, GroupMember::Partitions partitions) { notify(group_->listener.assigned, member, partitions); }
void Consumer::Impl::revoked(const GroupMember& member, GroupMember::Partitions partitions) { notify(group_->listener.revoked, member, partitions); }
void Consumer::Impl::lost(const GroupMember& member, GroupMember::Partitions partitions) { notify(group_->listener.lost, member, partitions); }
void Consumer::Impl::let_go(const GroupMember& member, GroupMember::Partitions partitions) { notify(group_->listener.let_go, member, partitions); }

// --- commits ---

template <class Fill>
CommitResult Consumer::Impl::run_commit(const Fill& fill) noexcept {
    if (fork_guard_.forked()) return {Status::forked, {}};
    if (!group_) return {Status::no_group, {}};
    const auto run = [&] {
        commits_.clear();
        for (const auto& member : members_) member->begin_commit();
        fill();
        return finish_commit(Refusal::of_all);
    };
    if (in_listener_) return run();
    const UseScope scope(use_);
    return scope.entered() ? run() : CommitResult{Status::misuse, {}};
}

void Consumer::Impl::add_all_to_commit() {
    for (const auto& cursor : cursors_) add_to_commit(cursor->topic().name(), cursor->partition(), cursor->position());
}

void Consumer::Impl::add_to_commit(std::string_view topic, std::uint32_t partition, std::uint64_t offset) {
    GroupMember* const member = member_of(topic);
    const bool reads = member != nullptr && (member->role() == GroupMember::Role::member ? member->holds(partition)
                                                                                        : find(topic, partition) != cursors_.size());
    if (!reads) {
        commits_.push_back({topic, partition, CommitOutcome::not_assigned, offset});
        return;
    }
    member->add_to_commit(partition, offset);
}

CommitResult Consumer::Impl::finish_commit(Refusal refusal) noexcept {
    bool good = commits_.empty();
    for (const auto& member : members_) good = member->allows() && good;
    if (good || refusal == Refusal::of_one) {
        for (const auto& member : members_) good = member->apply() && good;
    }
    for (const auto& member : members_) {
        for (const group_table::CommitItem& item : member->items()) commits_.push_back(answer_of(member->topic(), item));
    }
    return {good ? Status::ok : Status::commit_refused, commits_};
}

CommitResult Consumer::Impl::commit() noexcept {
    return run_commit([this] { add_all_to_commit(); });
}

CommitResult Consumer::Impl::commit(std::span<const PartitionOffset> offsets) noexcept {
    return run_commit([&] {
        for (const PartitionOffset& one : offsets) add_to_commit(one.topic, one.partition, one.offset);
    });
}

CommitResult Consumer::Impl::commit(std::span<const ConsumerRecord> records) noexcept {
    return run_commit([&] {
        highest_.clear();
        for (const ConsumerRecord& record : records) {
            // records come in runs of one partition
            auto known = std::find_if(highest_.rbegin(), highest_.rend(), [&](const PartitionOffset& one) {
                return one.partition == record.partition && one.topic == record.topic;
            });
            if (known == highest_.rend()) {
                highest_.push_back({record.topic, record.partition, record.offset + 1});
            } else {
                known->offset = std::max(known->offset, record.offset + 1);
            }
        }
        for (const PartitionOffset& one : highest_) add_to_commit(one.topic, one.partition, one.offset);
    });
}

SeekResult Consumer::Impl::replay(std::string_view topic, std::uint32_t partition, Position to) {
    check_may_change();
    GroupMember* const member = member_of(topic);
    if (member == nullptr || member->role() != GroupMember::Role::member) {
        refuse(partition_text(topic, partition), "is not read as a member of a group");
    }
    const SeekResult target = seek(topic, partition, to);
    const auto at = member->replay(partition, target.offset);
    if (!at) throw error_about(ErrorCode::busy, partition_text(topic, partition), "belongs to another member by now, or the group was reset");
    return seek(topic, partition, Position::at(*at));
}

void Consumer::Impl::close_memberships(bool finished) noexcept {
    if (members_.empty()) return;
    for (const auto& member : members_) member->leave(finished);
    past_members_.clear();
    std::move(members_.begin(), members_.end(), std::back_inserter(past_members_));
    members_.clear();
    cursors_.clear();
    next_ = 0;
}

CommitResult Consumer::Impl::close() noexcept {
    if (fork_guard_.forked()) return {Status::forked, {}};
    const UseScope scope(use_);
    if (!scope.entered()) return {Status::misuse, {}};
    for (const auto& member : members_) member->tell_leaving();
    const bool finished = group_ && group_->delivery == Delivery::at_least_once;
    commits_.clear();
    for (const auto& member : members_) member->begin_commit();
    if (finished) add_all_to_commit();
    const CommitResult result = finish_commit(Refusal::of_one);
    if (readiness_) readiness_->disarm();
    close_memberships(finished);
    return result;
}

}  // namespace ringmain
