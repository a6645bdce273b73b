// A topic that a keeper looks after: its partitions, its groups, and whether its files are still those at their paths.
#include "kept_topic.hpp"

#include <utility>

#include "group_table/listing.hpp"
#include "platform/clock.hpp"
#include "platform/futex.hpp"
#include "ringmain/error.hpp"

namespace ringmain {

namespace {

constexpr std::int64_t kNoGroupsNs = 500'000'000;  // a topic without groups: how long a new one may go unnoticed
constexpr std::int64_t kKernelTickNs = 50'000'000; // and more: time stamps of files may be that old
constexpr std::uint64_t kObserverSlices = 8;       // looks per session time-out

void check_writable(bool writable, const std::filesystem::path& path) {
    if (writable) return;
    // whoever may write it finds out why this process may not
    (void)platform::Mapping(path, platform::Access::read_write, 1);
}

}  // namespace

KeptTopic::KeptTopic(std::shared_ptr<const TopicFiles> files) : files_(std::move(files)), groups_(files_->groups()) {
    for (const auto& [path, identity, writable] : files_->shared_files()) {
        check_writable(writable, path);
        open_files_.push_back({path, identity});
    }
    KeptQueue::Logs logs;
    for (std::uint32_t p = 0; p < files_->options().partitions; ++p) {
        partitions_.emplace_back(*files_, p);
        logs.push_back(partitions_.back().log());
        open_files_.push_back({files_->partition_path(p), partitions_.back().file_identity()});
    }
    queues_.emplace(files_, std::move(logs));
}

void KeptTopic::step(KeeperStep& step) {
    keep_groups(step);
    queues_->step(step);
    for (PartitionKeeper& partition : partitions_) {
        partition.step(step, age_limited_);
        step.due_at(partition.due_ns());
    }
}

void KeptTopic::keep_groups(KeeperStep& step) {
    if (!has_groups_ && is_recent(groups_looked_ns_, step.now_ns, kNoGroupsNs)) return;
    groups_looked_ns_ = step.now_ns;
    const auto told = [&](std::uint32_t slot, std::uint64_t count) {
        step.events.tell([&] {
            const std::string group = group_table::name_of(files_->groups(), slot);
            return KeeperEvent{KeeperEventKind::member_evicted, files_->name(), {}, group, count};
        });
    };
    const recovery::GroupUpkeep done = groups_.step(step.is_dead, static_cast<std::uint64_t>(step.now_ns), told);
    step.report.evicted_members += done.evicted_members;
    step.report.freed_member_slots += done.freed_member_slots;
    step.report.swept_groups += done.swept_groups;
    has_groups_ = done.groups != 0;
    age_limited_ = done.age_limited;
    if (done.shortest_timeout_ns != 0) step.due_at(step.now_ns + static_cast<std::int64_t>(done.shortest_timeout_ns / kObserverSlices));
    if (done.evicted_members != 0) wake_members();
}

/// Members that wait for a partition need not sleep on.
void KeptTopic::wake_members() const noexcept {
    const auto& groups = files_->groups();
    for (std::uint32_t slot = 0; slot < groups.groups_max(); ++slot) platform::futex_wake_all(groups.group(slot).wake);
}

bool KeptTopic::names_changed() noexcept {
    std::optional<platform::DirectoryStamp> now;
    try {
        now = platform::stamp_of(files_->directory());
    } catch (const Error&) {
        return false;  // it may not be looked at: nothing is known to have changed
    }
    const bool same = now == names_ && names_settled_;
    names_ = now;
    names_settled_ = now && platform::realtime_ns() - now->changed_ns > kKernelTickNs;
    return !same;
}

std::optional<KeptTopic::ChangedFile> KeptTopic::find_changed_file() const try {
    if (!platform::identity_of(files_->directory())) return ChangedFile{files_->directory(), true};
    for (const OpenFile& file : open_files_) {
        const auto now = platform::identity_of(file.path);
        if (now != file.identity) return ChangedFile{file.path, !now};
    }
    return std::nullopt;
} catch (const Error&) {
    return std::nullopt;  // as above
}

}  // namespace ringmain
