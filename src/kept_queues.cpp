// The queues of a topic that a keeper looks after.
#include "kept_queues.hpp"

#include "group_table/listing.hpp"
#include "ringmain/error.hpp"
#include "work_leftovers.hpp"

namespace ringmain {

namespace {

constexpr std::int64_t kAgainNs = 4'000'000'000;  // what could not be opened

}  // namespace

/// Changes whenever a group begins or ends.
std::uint64_t KeptQueues::epochs() const noexcept {
    const auto& groups = topic_->groups();
    std::uint64_t sum = 0;
    for (std::uint32_t slot = 0; slot < groups.groups_max(); ++slot) {
        const group_table::SetWord set = groups.set(slot);
        if (set.state != group_table::GroupState::free) sum += groups.born(slot) * 4 + static_cast<std::uint64_t>(set.state);
        sum = sum * 31 + 7;
    }
    return sum;
}

void KeptQueues::step(KeeperStep& step) {
    const std::uint64_t now = epochs();
    const bool again = failed_ns_ && !is_recent(failed_ns_, step.now_ns, kAgainNs);
    if (now != seen_epochs_ || step.deaths != seen_deaths_ || again) {
        if (now != seen_epochs_ || again) find_queues(step);
        seen_epochs_ = now;
        seen_deaths_ = step.deaths;
        sweep(step);
    }
    for (auto& [slot, queue] : queues_) queue.step(step);
}

void KeptQueues::find_queues(KeeperStep& step) {
    failed_ns_.reset();
    std::erase_if(queues_, [&](const auto& one) {
        group_table::SetWord set;
        return !topic_->groups().set_of(one.second.group(), set);
    });
    for (const group_table::GroupView& group : group_table::view_groups(topic_->groups())) {
        if (group.options.kind != group_table::GroupKind::queue || queues_.contains(group.group.slot)) continue;
        try {
            queues_.try_emplace(group.group.slot, topic_, group.group, group.name, logs_);
        } catch (const Error&) {
            failed_ns_ = step.now_ns;  // deleted, damaged or without the rights: `ringmain verify` says why
        }
    }
}

void KeptQueues::sweep(KeeperStep& step) const {
    const std::uint64_t swept = sweep_work_leftovers(*topic_, step.clients);
    step.report.swept_directories += swept;
    if (swept != 0) step.events.tell([&] { return KeeperEvent{KeeperEventKind::leftovers_swept, topic_->name(), {}, {}, swept}; });
}

}  // namespace ringmain
