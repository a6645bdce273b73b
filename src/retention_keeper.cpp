// Retention of one partition as a keeper runs it: limits from the topic, events for the listener, times on the keeper's clock.
#include "retention_keeper.hpp"

#include "start_holder.hpp"

namespace ringmain {

RetentionKeeper::RetentionKeeper(const TopicFiles& topic, std::uint32_t partition,
                                 const partition_log::LogMemory<platform::HostMemory>& log)
    : topic_(&topic), partition_(partition), log_(log), retention_(log) {}

void RetentionKeeper::step(KeeperStep& step) {
    // what was there before is counted when there is time; what is new, at once
    const std::uint64_t cells = retention_.unfinished() ? step.grant_cells(retention::kCellsPerStep) : retention::kCellsPerStep;
    const retention::Expired done = retention_.step([this] { return topic_->retention(); }, step.moment, cells);
    step.report.expired_records += done.count();
    step.changed |= done.count() != 0;
    if (retention_.unfinished()) {
        ++step.report.unfinished;
        step.due_at(step.now_ns);
    }
    if (const std::uint64_t due_ns = retention_.due_ns(); due_ns != retention::kNever) {
        step.due_at(step.now_ns + static_cast<std::int64_t>(due_ns - step.moment.now_ns));
    }
    tell_of(step, done);
}

void RetentionKeeper::tell_of(const KeeperStep& step, const retention::Expired& done) {
    if (done.count() != 0) {
        step.events.tell([&] {
            return KeeperEvent{KeeperEventKind::records_expired, topic_->name(), partition_, {}, done.count(), done.from, done.to};
        });
    }
    std::string holder = done.held() ? holder_to_text(log_, done.stopped_by, step.clients) : std::string();
    if (!holder.empty() && holder != told_holder_) {
        step.events.tell([&] {
            return KeeperEvent{KeeperEventKind::retention_held, topic_->name(), partition_, holder, done.target - done.to, done.to, done.target};
        });
    }
    told_holder_ = std::move(holder);
}

}  // namespace ringmain
