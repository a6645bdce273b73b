// Resets: a plan with absolute targets, and carrying it out.
//
// A plan is refused unless every partition is as it was when the plan was made, or where the plan puts it: so a plan that was
// shown is what happens, and one that was killed half-way can be run again.
#include <algorithm>

#include "error_about.hpp"
#include "group_admin_impl.hpp"
#include "group_table/reset.hpp"
#include "partition_log/reader.hpp"
#include "platform/clock.hpp"
#include "queue_opening.hpp"
#include "retries_moved.hpp"
#include "seek.hpp"
#include "sound_log.hpp"

namespace ringmain {

namespace {

using Log = AdminTopic::Log;

struct Bounds {
    std::uint64_t low = 0;
    std::uint64_t high = 0;
};

/// Where the group can be put: within the log, and if it gates not below where the log start may already go.
Bounds bounds_of(const AdminTopic& topic, std::uint32_t partition, const Log& log, bool gating) {
    const partition_log::ControlCheck check = sound_offsets(log, topic.name(), partition);
    const std::uint64_t floor = gating ? log.control->gate_floor.load(std::memory_order_acquire) : 0;  // acquire GATE_FLOOR
    return {std::min(std::max(check.start, floor), check.end), check.end};
}

std::int64_t saturating_minus(std::int64_t a, std::int64_t b) noexcept {
    std::int64_t difference = 0;
    return __builtin_sub_overflow(a, b, &difference) ? (b > 0 ? INT64_MIN : INT64_MAX) : difference;
}

void set_clamped(PartitionReset& reset, std::uint64_t wanted, const Bounds& bounds) noexcept {
    reset.target = std::clamp(wanted, bounds.low, bounds.high);
    if (reset.target != wanted) reset.clamp = wanted < bounds.low ? ResetClamp::log_start : ResetClamp::log_end;
}

void set_shifted(PartitionReset& reset, std::int64_t by, const Bounds& bounds) noexcept {
    const std::uint64_t distance = by < 0 ? 0 - static_cast<std::uint64_t>(by) : static_cast<std::uint64_t>(by);
    if (by < 0 && distance > reset.position) {  // before offset 0
        reset.target = bounds.low;
        reset.clamp = ResetClamp::log_start;
        return;
    }
    const std::uint64_t wanted = by < 0 ? reset.position - distance : reset.position + std::min(distance, UINT64_MAX - reset.position);
    set_clamped(reset, wanted, bounds);
}

void set_target(PartitionReset& reset, const ResetTarget& target, const Log& log, const Bounds& bounds, std::int64_t now_ns) noexcept {
    const partition_log::Reader<AdminTopic::Memory> reader(log);
    const auto since = [&](std::int64_t time_ns) {
        // a time before the log is an offset that is kept, too: nothing to report
        reset.target = std::clamp(first_offset_since(reader, time_ns, log.records + log.slack), bounds.low, bounds.high);
    };
    switch (target.kind) {
        case ResetTarget::Kind::earliest: reset.target = bounds.low; break;
        case ResetTarget::Kind::latest: reset.target = bounds.high; break;
        case ResetTarget::Kind::offset: set_clamped(reset, target.offset, bounds); break;
        case ResetTarget::Kind::shift: set_shifted(reset, target.shift, bounds); break;
        case ResetTarget::Kind::time: since(target.time_ns); break;
        case ResetTarget::Kind::back: since(saturating_minus(now_ns, target.duration.count())); break;
    }
}

[[noreturn]] void refuse_plan(const ResetPlan& plan, const std::string& why) {
    throw error_about(ErrorCode::invalid_argument, "the plan for " + group_text(plan.group, plan.topic), why);
}

/// Nobody has been at work in the partition since the plan was made, but the plan itself.
void check_unchanged(const ResetPlan& plan, const PartitionReset& reset, const group_table::PartitionWord& word, const Bounds& bounds) {
    const bool untouched = word.generation == reset.generation && word.committed == reset.position;
    const bool done = word.touched && word.committed >= reset.target && word.committed <= std::max(reset.target, bounds.low);
    if (untouched || done) return;
    throw error_about(ErrorCode::busy, group_text(plan.group, plan.topic),
                      "is not as it was planned: partition " + std::to_string(reset.partition) + " was at " +
                          std::to_string(reset.position) + " and is at " + std::to_string(word.committed) + " (generation " +
                          std::to_string(reset.generation) + ", now " + std::to_string(word.generation) +
                          "); make a new plan, or force this one");
}

}  // namespace

void check_plan(const ResetPlan& plan, const AdminTopic& topic) {
    if (plan.topic_id != topic.files().id()) {
        throw error_about(ErrorCode::mismatch, "topic '" + plan.topic + "'",
                          "is another one by now: id " + to_string(topic.files().id()) + ", the plan is for " + to_string(plan.topic_id));
    }
    if (plan.group_slot >= topic.groups().groups_max())
        refuse_plan(plan, "names group slot " + std::to_string(plan.group_slot) + " of " + std::to_string(topic.groups().groups_max()));
    std::vector<bool> named(topic.partitions());
    for (const PartitionReset& reset : plan.partitions) {
        if (reset.partition >= topic.partitions() || named[reset.partition])
            refuse_plan(plan, "names partition " + std::to_string(reset.partition) + ", which does not exist or is named twice");
        named[reset.partition] = true;
    }
    const auto missing = std::find(named.begin(), named.end(), false);
    if (missing != named.end()) refuse_plan(plan, "lacks partition " + std::to_string(missing - named.begin()));
}

void check_targets(const ResetPlan& plan, AdminTopic& topic, bool gating, bool force) {
    for (const PartitionReset& one : plan.partitions) {
        const Bounds bounds = bounds_of(topic, one.partition, topic.log(one.partition), gating);
        if (one.target > bounds.high)
            refuse_plan(plan, "puts partition " + std::to_string(one.partition) + " at " + std::to_string(one.target) +
                                  ", beyond the log end " + std::to_string(bounds.high));
        if (!force) check_unchanged(plan, one, topic.groups().word(plan.group_slot, one.partition), bounds);
    }
}

std::uint64_t target_now(const PartitionReset& reset, AdminTopic& topic, bool gating) {
    return std::max(reset.target, bounds_of(topic, reset.partition, topic.log(reset.partition), gating).low);
}

std::string_view to_string(ResetClamp clamp) noexcept {
    switch (clamp) {
        case ResetClamp::none: return "none";
        case ResetClamp::log_start: return "log_start";
        case ResetClamp::log_end: return "log_end";
    }
    return "unknown";
}

ResetPlan GroupAdmin::Impl::plan(std::string_view topic_name, std::string_view group, const ResetTarget& target, group_table::GroupKind kind) {
    AdminTopic& topic = open(topic_name);
    if (target.kind == ResetTarget::Kind::offset && target.offset > kOffsetMax) {
        throw error_about(ErrorCode::invalid_argument, "offset " + std::to_string(target.offset),
                          "is outside 0.." + std::to_string(kOffsetMax));
    }
    const View found = view(topic, group);
    if (kind == group_table::GroupKind::stream) refuse_queue(topic.files(), found.group, group, "ringmain queue reset");
    const std::int64_t now_ns = platform::realtime_ns();
    ResetPlan plan{topic.name(), topic.files().id(), found.name, found.group.slot, found.group.born, {}};
    for (std::uint32_t partition = 0; partition < topic.partitions(); ++partition) {
        const group_table::PartitionWord& word = found.partitions[partition].word;
        const Log& log = topic.log(partition);
        const Bounds bounds = bounds_of(topic, partition, log, found.options.gating);
        PartitionReset reset;
        reset.partition = partition;
        if (word.touched) reset.committed = word.committed;
        reset.position = word.committed;
        reset.generation = word.generation;
        reset.log_start = partition_log::Reader<Memory>(log).log_start();
        reset.log_end = bounds.high;
        set_target(reset, target, log, bounds, now_ns);
        plan.partitions.push_back(reset);
    }
    return plan;
}

std::vector<PartitionResetDone> GroupAdmin::Impl::execute(const ResetPlan& plan, bool force) {
    AdminTopic& topic = open(plan.topic);
    check_plan(plan, topic);
    check_writable(topic);
    const group_table::GroupRef group{plan.group_slot, plan.group_born};
    refuse_queue(topic.files(), group, plan.group, "ringmain queue reset");
    RetriesMoved retries(topic.handle(), group, plan.group);
    const group_table::GroupReset<Memory> reset(topic.groups(), group);
    const bool gating = group_table::wants_gates(topic.groups(), group.slot);
    group_table::SetWord set;
    do {  // again: somebody joined or left since the look
        if (!force) refuse_members(topic, group, "reset it");
        if (!topic.groups().set_of(group, set)) {
            throw error_about(ErrorCode::mismatch, group_text(plan.group, plan.topic),
                              "was deleted since the plan was made");
        }
        check_targets(plan, topic, gating, force);  // before the exchange: whoever joins later makes it fail
    } while (reset.begin(set, force) != group_table::ResetStatus::begun);

    std::vector<PartitionResetDone> done;
    for (const PartitionReset& one : plan.partitions) {
        const std::uint64_t target = target_now(one, topic, gating);
        const auto before = [&](std::uint32_t generation) { retries.announce(one.partition, generation); };
        const group_table::ResetDone result = reset.set(one.partition, target, topic.log(one.partition).control->gate_floor, before);
        done.push_back({one.partition, one.target, result.committed, result.generation});
    }
    reset.finish();
    wake(topic, group);
    return done;
}

}  // namespace ringmain
