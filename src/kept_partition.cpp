// A partition of a topic that a keeper looks after, or cannot.
#include "kept_partition.hpp"

#include <algorithm>

#include "damage.hpp"
#include "platform/files.hpp"

namespace ringmain {

namespace {

constexpr std::int64_t kRetryNs = 250'000'000;  // what cannot be opened: doubled each time
constexpr std::int64_t kRetryMaxNs = 4'000'000'000;

}  // namespace

void KeptPartition::open(KeeperStep& step) {
    if (keeper_ || is_recent(tried_ns_, step.now_ns, pause_ns_) || !step.grant_file())
        return;
    tried_ns_ = step.now_ns;
    try {
        keeper_ = std::make_unique<PartitionKeeper>(*topic_, partition_);
        ++opened_;
        pause_ns_ = 0;
        topic_->check_whole();
        (void)take_back_damage(*topic_->readers(partition_));
        note_control(step);
        if (!contradicts_)
            note_recovery(step);
    } catch (const Error& error) {
        keeper_.reset();
        if (error.code() == ErrorCode::topic_deleted)
            return;  // which is found out by itself
        note_failure(error, step);
    }
}

void KeptPartition::step(KeeperStep& step, bool age_limited) {
    if (!keeper_)
        return;
    keeper_->step(step, age_limited);
    if (keeper_->truncated())
        return close(step);  // whatever was done was done to nobody's memory
    step.due_at(keeper_->due_ns());
    if (contradicts_ || !keeper_->rested())
        note_control(step);
}

void KeptPartition::look_at_file(KeeperStep& step) try {
    if (!keeper_) {
        pause_ns_ = 0;  // something changed: perhaps it is whole again
        return;
    }
    const auto now = platform::shape_of(topic_->partition_path(partition_));
    if (now && now->identity == keeper_->file_identity() && now->bytes >= keeper_->file_bytes())
        return;
    if (now && now->identity != keeper_->file_identity()) {
        step.events.tell([&] {
            return KeeperEvent{KeeperEventKind::file_replaced, topic_->name(), partition_,
                               topic_->partition_path(partition_).string()};
        });
    }
    close(step);
} catch (const Error&) {
    // it may not be looked at: nothing is known to have changed
}

/// What is at the path is opened as if it were new, if it can be.
void KeptPartition::close(KeeperStep& step) {
    keeper_.reset();
    contradicts_ = false;
    pause_ns_ = 0;
    step.changed = true;
    open(step);
    if (!keeper_ && trouble_.empty())
        ++step.report.unfinished;  // no file was left to open
}

void KeptPartition::note_failure(const Error& error, KeeperStep& step) {
    pause_ns_ = std::clamp(pause_ns_ * 2, kRetryNs, kRetryMaxNs);
    if (is_damage(error) && topic_->readers_whole())
        tell_damage(*topic_->readers(partition_));
    note_trouble(error.what(), step);
}

/// Offsets that contradict each other. What has a right to be there is kept all the same; nothing is moved by them.
void KeptPartition::note_control(KeeperStep& step) {
    const std::string why = keeper_->contradiction();
    const bool before = std::exchange(contradicts_, !why.empty());
    if (contradicts_ && !before) {
        note_trouble("'" + topic_->partition_path(partition_).string() + "' is damaged: " + why, step);
    } else if (before && !contradicts_) {
        note_recovery(step);
    }
}

void KeptPartition::note_trouble(const std::string& why, KeeperStep& step) {
    if (trouble_ == why)
        return;
    trouble_ = why;
    step.changed = true;
    step.events.tell([&] {
        return KeeperEvent{KeeperEventKind::partition_unreadable, topic_->name(), partition_, why};
    });
}

void KeptPartition::note_recovery(KeeperStep& step) {
    if (trouble_.empty())
        return;
    trouble_.clear();
    step.changed = true;
    step.events.tell([&] { return KeeperEvent{KeeperEventKind::partition_recovered, topic_->name(), partition_, {}}; });
}

}  // namespace ringmain
