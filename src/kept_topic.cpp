// A topic that a keeper looks after: its partitions, its groups, and whether its files are still those at their paths.
#include "kept_topic.hpp"

#include <utility>

#include "group_table/listing.hpp"
#include "platform/files.hpp"
#include "platform/futex.hpp"
#include "ringmain/error.hpp"

namespace ringmain {

namespace {

constexpr std::int64_t kNoGroupsNs = 500'000'000;  // a topic without groups: how long a new one may go unnoticed
constexpr std::uint64_t kObserverSlices = 8;       // looks per session time-out

void check_writable(bool writable, const std::filesystem::path& path) {
    if (writable) return;
    // whoever may write it finds out why this process may not
    (void)platform::Mapping(path, platform::Access::read_write, 1);
}

}  // namespace

KeptTopic::KeptTopic(std::shared_ptr<const TopicFiles> files) : files_(std::move(files)), groups_(files_->groups()) {
    for (const TopicFiles::SharedFile& file : files_->shared_files()) check_writable(file.writable, file.path);
    partitions_.reserve(files_->options().partitions);
    for (std::uint32_t p = 0; p < files_->options().partitions; ++p) partitions_.emplace_back(*files_, p);
    logs_ = std::make_shared<KeptQueue::Logs>(partitions_.size());
    queues_.emplace(files_, logs_);
}

void KeptTopic::step(KeeperStep& step) {
    keep_groups(step);
    for (std::size_t p = 0; p < partitions_.size(); ++p) (*logs_)[p] = {partitions_[p].log(), partitions_[p].opened()};
    queues_->step(step);
    std::size_t kept = 0;
    std::size_t tried = 0;
    for (KeptPartition& partition : partitions_) {
        partition.open(step);
        partition.step(step, age_limited_);
        kept += partition.kept() ? 1 : 0;
        tried += partition.tried() ? 1 : 0;
    }
    kept_ = kept;
    complete_ = complete_ || tried == partitions_.size();
    if (!complete_) ++step.report.unfinished;
}

std::optional<std::string> KeptTopic::trouble() const {
    try {
        files_->check_stamps();
        return std::nullopt;
    } catch (const Error& error) {
        return error.what();
    }
}

void KeptTopic::look_at_partitions(KeeperStep& step) {
    for (KeptPartition& partition : partitions_) partition.look_at_file(step);
}

void KeptTopic::keep_groups(KeeperStep& step) {
    const bool died = std::exchange(seen_deaths_, step.deaths) != step.deaths;  // perhaps a member of a group that came since
    if (!died && !has_groups_ && is_recent(groups_looked_ns_, step.now_ns, kNoGroupsNs)) return;
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

std::optional<KeptTopic::ChangedFile> KeptTopic::find_changed_file() const try {
    using How = ChangedFile::How;
    if (!platform::identity_of(files_->directory())) return ChangedFile{files_->directory(), How::missing};
    for (const TopicFiles::SharedFile& file : files_->shared_files()) {
        const auto now = platform::shape_of(file.path);
        if (!now) return ChangedFile{file.path, How::missing};
        if (now->identity != file.identity) return ChangedFile{file.path, How::replaced};
        if (now->bytes < file.bytes) return ChangedFile{file.path, How::truncated};
    }
    return std::nullopt;
} catch (const Error&) {
    return std::nullopt;  // they may not be looked at: nothing is known to have changed
}

}  // namespace ringmain
