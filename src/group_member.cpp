// Keeping a membership up, taking and giving up partitions, and committing.
#include "group_member.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>

#include "assignment/assignment.hpp"
#include "damage.hpp"
#include "error_about.hpp"
#include "group_table/bystander.hpp"
#include "group_table/creation.hpp"
#include "platform/clock.hpp"
#include "platform/system_failure.hpp"
#include "retries_moved.hpp"
#include "topic_paths.hpp"

namespace ringmain {

namespace {

using group_table::AcquireStatus;
using group_table::CommitStatus;
using group_table::FindStatus;
using group_table::JoinStatus;
using group_table::LookStatus;

constexpr std::uint64_t kNsPerMs = 1'000'000;
constexpr std::uint64_t kJudgeNs = 100 * kNsPerMs;         // how often members look whether others are gone
constexpr std::uint64_t kJudgeWaitingNs = 1 * kNsPerMs;    // the same while a partition is waited for
constexpr std::uint64_t kSleepWaitingNs = 10 * kNsPerMs;

group_table::GroupOptions stored_options(const GroupOptions& options) noexcept {
    group_table::GroupOptions stored;
    stored.gating = options.gating;
    stored.lag_records_max = options.lag_records_max;
    stored.lag_ms_max = static_cast<std::uint64_t>(options.lag_time_max.count());
    stored.loss_policy = static_cast<std::uint8_t>(options.on_loss);
    stored.start_kind = static_cast<std::uint8_t>(options.start.kind);
    stored.start_value = options.start.kind == Position::Kind::time ? static_cast<std::uint64_t>(options.start.time_ns) : options.start.value;
    return stored;
}

bool is_policy(std::uint8_t policy) noexcept { return policy <= static_cast<std::uint8_t>(OnLoss::latest); }

}  // namespace

GroupMember::GroupMember(std::shared_ptr<Broker::Impl> broker, std::shared_ptr<const TopicFiles> topic,
                         const GroupOptions& options, Role role, Listener& listener)
    : broker_(std::move(broker)),
      topic_(std::move(topic)),
      options_(options),
      listener_(listener),
      groups_(topic_->groups()),
      role_(role) {
    if (options.gating && topic_->options().when_full != WhenFull::block) {
        throw error_about(ErrorCode::invalid_argument, group_text(options.name, topic_->name()),
                    "cannot gate: the topic overwrites when full; only topics created with `block` can be gated");
    }
    if (!topic_->groups_writable()) throw platform::system_failure("write", groups_path(topic_->directory()), EACCES);
    const std::uint32_t partitions = topic_->options().partitions;
    parts_.resize(partitions);
    owners_.resize(partitions);
    told_.reserve(partitions);
    items_.reserve(partitions);
    open_all();
    find_or_create();
    const auto policy = group_table::read_options(groups_, group_.slot).loss_policy;
    if (is_policy(policy)) on_loss_ = static_cast<OnLoss>(policy);
    for (Part& part : parts_) {
        if (part.cursor) part.cursor->on_loss(on_loss_);
    }
    poll_every_ticks_ = static_cast<std::uint64_t>(options.session_timeout.count()) * 1000 * platform::ticks_per_us() / 64;
    if (role_ == Role::member) {
        join();
    } else {
        begin_to_gate();
    }
    topic_->check_whole();
}

/// One that is damaged does not keep the group from the others. If there is nothing but damage, that is the answer.
void GroupMember::open_all() {
    for (std::uint32_t p = 0; p < parts_.size(); ++p) {
        try {
            parts_[p].cursor = std::make_shared<PartitionCursor>(topic_, p);
            check_sound(*parts_[p].cursor);
        } catch (const Error& error) {
            parts_[p].cursor.reset();
            if (!is_damage(error) || ++damaged_ == parts_.size()) throw;
        }
    }
}

void GroupMember::reopen(std::uint32_t partition) {
    auto cursor = std::make_shared<PartitionCursor>(topic_, partition);
    check_sound(*cursor);
    cursor->on_loss(on_loss_);
    parts_[partition].cursor = std::move(cursor);
    parts_[partition].told_damage = false;
    --damaged_;
}

const std::shared_ptr<PartitionCursor>& GroupMember::open(std::uint32_t partition) {
    if (!parts_[partition].cursor) reopen(partition);
    return parts_[partition].cursor;
}

void GroupMember::set_aside(std::uint32_t partition) {
    Part& part = parts_[partition];
    if (!part.cursor) return;
    if (part.held) {
        told_.assign(1, partition);
        tell(&Listener::revoked);
        hand_over(partition, options_.delivery == Delivery::at_least_once);
        changed_ = true;
    }
    part.cursor.reset();
    ++damaged_;
}

std::optional<std::uint32_t> GroupMember::untold_damage() const noexcept {
    if (damaged_ == 0) return std::nullopt;
    for (std::uint32_t p = 0; p < parts_.size(); ++p) {
        if (!parts_[p].cursor && !parts_[p].told_damage) return p;
    }
    return std::nullopt;
}

void GroupMember::take_back() {
    if (role_ == Role::bystander || damaged_ == 0) return;
    for (std::uint32_t p = 0; p < parts_.size(); ++p) {
        if (parts_[p].cursor) continue;
        try {
            reopen(p);
            waiting_ = true;  // the next poll takes it, if it is ours
        } catch (const Error&) {
            // still damaged, or the topic is gone, which the next poll finds out
        }
    }
}

/// A group that gates does so without members, too: what a join does, for a group that a reader by hand has named first.
void GroupMember::begin_to_gate() noexcept {
    if (!group_table::wants_gates(groups_, group_.slot)) return;
    for (std::uint32_t p = 0; p < parts_.size(); ++p) {
        if (groups_.word(group_.slot, p).touched) continue;
        (void)group_table::regate(groups_, group_.slot, p, floors()(p), group_table::BelowFloor::raise);
    }
}

void GroupMember::find_or_create() {
    group_table::GroupCreation<Memory> creation(groups_, broker_->client().word());
    const auto start = [this](std::uint32_t partition) noexcept {
        // of a damaged one nobody knows: from the first record, if there will ever be one
        return parts_[partition].cursor ? parts_[partition].cursor->seek(options_.start).offset : topic_->options().first_offset;
    };
    const auto found = creation.find_or_create(options_.name, stored_options(options_), start, DeathOracle(broker_->clients()));
    switch (found.status) {
        case FindStatus::found:
        case FindStatus::created: break;
        case FindStatus::topic_deleted:
            topic_->check_whole();
            throw error_about(ErrorCode::topic_deleted, "topic '" + topic_->name() + "'", "was deleted");
        case FindStatus::limit:
            throw error_about(ErrorCode::limit, group_text(options_.name, topic_->name()),
                        "cannot be created: the topic's " + std::to_string(groups_.groups_max()) + " groups are all taken");
        default:
            throw error_about(ErrorCode::invalid_argument, group_text(options_.name, topic_->name()), "has no valid name");
    }
    group_ = found.group;
    if (group_table::read_options(groups_, group_.slot).kind == group_table::GroupKind::queue) {
        throw error_about(ErrorCode::mismatch, group_text(options_.name, topic_->name()), "is a work queue: its records are acquired by workers");
    }
    membership_.emplace(groups_, group_, broker_->client().word(),
                        group_table::MemberProfile{options_.static_name, static_cast<std::uint64_t>(options_.session_timeout.count())});
}

void GroupMember::join() {
    const JoinStatus status = membership_->join(DeathOracle(broker_->clients()), floors());
    wake();
    joined_ = status == JoinStatus::joined;
    if (joined_) return;
    if (status == JoinStatus::members_full) {
        throw error_about(ErrorCode::limit, group_text(options_.name, topic_->name()),
                    "is full: all " + std::to_string(groups_.members_max()) + " member slots belong to live members");
    }
    throw error_about(ErrorCode::not_found, group_text(options_.name, topic_->name()), "was deleted while it was joined");
}

Status GroupMember::keep_up() {
    if (role_ == Role::bystander) return Status::ok;
    if (fenced_) return Status::fenced_instance;
    wake_seen_ = groups_.group(group_.slot).wake.load(std::memory_order_acquire);  // acquire GROUP_SET
    const std::uint64_t now_ticks = platform::ticks();
    if (now_ticks - polled_at_ticks_ >= poll_every_ticks_) {
        polled_at_ticks_ = now_ticks;
        membership_->count_poll(static_cast<std::uint64_t>(platform::realtime_coarse_ns()));
    }
    const std::uint64_t now_ns = now_ticks / platform::ticks_per_us() * 1000;
    const std::uint64_t judge_every_ns = waiting_ ? kJudgeWaitingNs : std::min(kJudgeNs, static_cast<std::uint64_t>(sleep_max_ns()));
    if (now_ns - judged_ns_ >= judge_every_ns) judge_others(now_ns);
    if (joined_ && !waiting_ && !membership_->changed()) [[likely]] return Status::ok;
    if (!joined_) {
        try {
            join();
        } catch (const Error& error) {
            if (error.code() == ErrorCode::limit) return Status::evicted;  // the next poll tries again
        }
    }
    return rebalance();
}

Status GroupMember::rebalance() {
    const group_table::Look look = membership_->look();
    if (look.status != LookStatus::member) return part_from(look.status);
    std::array<assignment::Candidate, layout::kMembersHardMax> members;
    for (std::uint32_t i = 0; i < look.count; ++i) members[i] = {look.members[i].key, look.members[i].slot};
    assignment::assign({members.data(), look.count}, owners_);
    check_held();
    give_up();
    waiting_ = !take();
    return Status::ok;
}

Status GroupMember::part_from(LookStatus why) {
    lose_all();
    switch (why) {
        case LookStatus::fenced_instance: fenced_ = true; return Status::fenced_instance;
        case LookStatus::group_deleted:
            ended_ = true;
            if (!topic_->groups_whole()) return Status::corrupt;
            return topic_->deleted() ? Status::topic_deleted : Status::group_deleted;
        default: joined_ = false; return Status::evicted;
    }
}

/// What is another's by the assignment. The application may still commit before it goes.
void GroupMember::give_up() {
    const auto mine = static_cast<std::uint8_t>(membership_->slot());
    gather([&](std::uint32_t p) { return parts_[p].held && owners_[p] != mine; });
    if (told_.empty()) return;
    leaving_ = told_;
    tell(&Listener::revoked);
    for (const std::uint32_t p : leaving_) hand_over(p, options_.delivery == Delivery::at_least_once);
    changed_ = true;
    groups_.count_wake(group_.slot);
    wake();
}

void GroupMember::hand_over(std::uint32_t partition, bool finished) noexcept {
    Part& part = parts_[partition];
    if (!part.held) return;
    const std::optional<std::uint64_t> upto = finished ? std::optional(part.cursor->position()) : std::nullopt;
    (void)positions().release({partition, part.generation}, upto);  // lost: it is another's already
    part.held = false;
}

/// What is ours and nobody's. True: there is nothing left to wait for.
bool GroupMember::take() {
    const auto mine = static_cast<std::uint8_t>(membership_->slot());
    const auto now_ns = commit_clock_ns();
    const bool wants_gates = group_table::wants_gates(groups_, group_.slot);
    bool complete = true;
    told_.clear();
    for (std::uint32_t p = 0; p < parts_.size(); ++p) {
        Part& part = parts_[p];
        if (owners_[p] != mine || part.held || !part.cursor) continue;
        const group_table::Acquired got = positions().acquire(p, now_ns);
        if (got.status != AcquireStatus::acquired) {
            complete = false;
            continue;
        }
        part.cursor->seek(Position::at(got.committed));
        part.held = true;
        part.gates = got.gates;
        part.let_go = wants_gates && !got.gates;  // while nobody read here, or another member: it is news for this one
        told_let_go_ = told_let_go_ || part.let_go;
        part.generation = got.generation;
        part.checked_at = got.committed;
        told_.push_back(p);
    }
    changed_ = changed_ || !told_.empty();
    tell(&Listener::assigned);
    tell_let_go();
    return complete;
}

void GroupMember::check_held() {
    gather([&](std::uint32_t p) { return parts_[p].held && !still_held(p); });
    for (const std::uint32_t p : told_) lose(p);
    tell(&Listener::lost);
    tell_let_go();
}

void GroupMember::lose(std::uint32_t partition) noexcept {
    parts_[partition].held = false;
    changed_ = true;
    waiting_ = true;  // perhaps it comes back: after a reset it is nobody's
}

void GroupMember::lose_all() {
    gather([&](std::uint32_t p) { return parts_[p].held; });
    for (const std::uint32_t p : told_) lose(p);
    waiting_ = false;
    tell(&Listener::lost);
}

/// Members that are gone: proven dead, or silent for their time-out by this process's own running time.
void GroupMember::judge_others(std::uint64_t now_ns) {
    judged_ns_ = now_ns;
    std::uint32_t evicted = group_table::evict_dead(groups_, group_.slot, DeathOracle(broker_->clients()));
    auto verdict = observer_.look(groups_, group_.slot, now_ns);
    if (joined_) verdict.overdue &= ~(std::uint64_t{1} << membership_->slot());
    if (group_table::evict(groups_, group_.slot, verdict.set, verdict.overdue)) ++evicted;
    if (evicted != 0) wake();
}

void GroupMember::wake() noexcept { platform::futex_wake_all(groups_.group(group_.slot).wake); }

template <class Wanted>
void GroupMember::gather(const Wanted& wanted) {
    told_.clear();
    for (std::uint32_t p = 0; p < parts_.size(); ++p) {
        if (wanted(p)) told_.push_back(p);
    }
}

void GroupMember::tell(void (Listener::*call)(const GroupMember&, Partitions)) {
    if (!told_.empty()) (listener_.*call)(*this, told_);
}

void GroupMember::tell_let_go() {
    if (!told_let_go_) return;
    told_let_go_ = false;
    gather([&](std::uint32_t p) { return std::exchange(parts_[p].let_go, false); });
    tell(&Listener::let_go);
}

bool GroupMember::still_held(std::uint32_t partition) {
    Part& part = parts_[partition];
    const group_table::Standing standing = positions().standing({partition, part.generation});
    if (!standing.held) return false;
    note_gates(part, standing.gates);
    return true;
}

void GroupMember::note_gates(Part& part, bool gates) noexcept {
    if (part.gates && !gates) part.let_go = told_let_go_ = true;
    part.gates = gates;
}

bool GroupMember::commit_now(std::uint32_t partition, std::uint64_t offset) noexcept {
    group_table::CommitItem item;
    item.tenure = {partition, parts_[partition].generation};
    item.position = item.offset = offset;
    (void)positions().commit({&item, 1}, floors(), commit_clock_ns());
    if (item.let_go) parts_[partition].let_go = told_let_go_ = true;
    return item.status == CommitStatus::committed || item.status == CommitStatus::stale;
}

void GroupMember::check_delivered(PollBatch& batch, bool commit_first) {
    bool lost = false;
    for (std::uint32_t p = 0; p < parts_.size(); ++p) {
        Part& part = parts_[p];
        if (!part.held) continue;
        const std::uint64_t position = part.cursor->position();
        if (position == part.checked_at) continue;
        part.checked_at = position;
        if (still_held(p) && (!commit_first || commit_now(p, position))) {
            positions().note_delivered(p, position);
        } else {
            lost = true;
            batch.remove(topic_->name(), p);
        }
    }
    if (lost || told_let_go_) [[unlikely]] check_held();
}

bool GroupMember::may_show(std::uint32_t partition, bool commit_first) {
    Part& part = parts_[partition];
    const std::uint64_t next = part.cursor->position() + 1;
    const bool may = part.held && still_held(partition) && (!commit_first || commit_now(partition, next));
    if (may) positions().note_delivered(partition, next);
    if (!may || told_let_go_) [[unlikely]] check_held();
    return may;
}

void GroupMember::add_to_commit(std::uint32_t partition, std::uint64_t offset) {
    Part& part = parts_[partition];
    if (part.item < items_.size() && items_[part.item].tenure.partition == partition) {  // named twice
        items_[part.item].offset = std::max(items_[part.item].offset, offset);
        return;
    }
    part.item = items_.size();
    group_table::CommitItem& item = items_.emplace_back();
    item.tenure = {partition, part.generation};
    item.position = part.cursor->position();
    item.offset = offset;
}

bool GroupMember::allows() noexcept {
    if (role_ == Role::member) return positions().allows(items_);
    bool all = true;
    for (group_table::CommitItem& item : items_) {
        group_table::commit_unowned(groups_, group_, item, false, 0);
        all = all && item.status == CommitStatus::not_applied;
    }
    return all;
}

bool GroupMember::apply() noexcept {
    if (role_ == Role::member) {
        const bool all = positions().apply(items_, floors(), commit_clock_ns());
        for (const group_table::CommitItem& item : items_) note_gates(parts_[item.tenure.partition], item.gates);
        return all;
    }
    bool all = true;
    for (group_table::CommitItem& item : items_) {
        group_table::commit_unowned(groups_, group_, item, true, commit_clock_ns());
        all = all && item.status == CommitStatus::committed;
    }
    return all;
}

std::optional<std::uint64_t> GroupMember::replay(std::uint32_t partition, std::uint64_t offset) {
    Part& part = parts_[partition];
    group_table::Tenure tenure{partition, part.generation};
    RetriesMoved retries(topic_, group_, options_.name);
    const auto at = positions().replay(tenure, offset, floors(), [&](std::uint32_t generation) { retries.announce(partition, generation); });
    part.generation = tenure.generation;
    if (at) part.checked_at = *at;
    return at;
}

group_table::PartitionWord GroupMember::word(std::uint32_t partition) const noexcept {
    return groups_.word(group_.slot, partition);
}

void GroupMember::tell_leaving() {
    gather([&](std::uint32_t p) { return parts_[p].held; });
    tell(&Listener::revoked);
}

void GroupMember::leave(bool finished) noexcept {
    if (role_ == Role::bystander || !joined_) return;
    joined_ = false;
    for (std::uint32_t p = 0; p < parts_.size(); ++p) {
        if (options_.static_name.empty()) {
            hand_over(p, finished);
        } else if (parts_[p].held && finished) {
            (void)commit_now(p, parts_[p].cursor->position());
        }
    }
    if (options_.static_name.empty()) {
        membership_->leave();
    } else {
        membership_->detach();
    }
    for (Part& part : parts_) part.held = false;
    changed_ = true;
    wake();
}

bool GroupMember::gone() const noexcept {
    group_table::SetWord set;
    return !groups_.set_of(group_, set);
}

platform::FutexWait GroupMember::wake_word() const noexcept { return {&groups_.group(group_.slot).wake, wake_seen_}; }

std::int64_t GroupMember::sleep_max_ns() const noexcept {
    const auto timeout_ns = static_cast<std::uint64_t>(options_.session_timeout.count()) * kNsPerMs;
    return static_cast<std::int64_t>(waiting_ ? std::min(kSleepWaitingNs, timeout_ns / 8) : timeout_ns / 8);
}

std::uint64_t GroupMember::commit_clock_ns() noexcept { return static_cast<std::uint64_t>(platform::realtime_coarse_ns()); }

}  // namespace ringmain
