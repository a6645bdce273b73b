// The groups of scenarios, and what must always hold of a partition in a group.
#include "explore/group_stage.hpp"

#include <algorithm>

namespace ringmain::explore {

using group_table::AcquireStatus;
using group_table::CommitStatus;

void PartitionStory::begin(std::uint64_t committed, std::uint32_t generation) noexcept {
    *this = {};
    first_ = generation;
    resets_.fill(kNone);
    generations_[0] = {.known = true, .began = committed, .committed = committed};
}

PartitionStory::Generation& PartitionStory::at(std::uint32_t generation) {
    require(generation >= first_ && generation - first_ < kGenerations, "a generation that cannot be");
    return generations_[generation - first_];
}

void PartitionStory::acquired(std::uint32_t generation, std::uint64_t committed) {
    Generation& mine = at(generation);
    require(!mine.known, "two tenures have one generation");
    mine = {.known = true, .began = committed, .committed = committed};
}

void PartitionStory::asks(std::uint32_t generation, std::uint64_t offset) { at(generation).asked = offset; }

void PartitionStory::counted(std::uint32_t generation, std::uint64_t offset) {
    Generation& mine = at(generation);
    require(offset >= mine.committed, "a tenure's commits go back");
    mine.committed = offset;
    mine.asked = kNone;
}

void PartitionStory::refused(std::uint32_t generation) { at(generation).asked = kNone; }

void PartitionStory::reset_done(unsigned thread, std::uint32_t generation, std::uint64_t committed) {
    Generation& mine = at(generation);
    require(!mine.known, "a reset has the generation of another");
    mine = {.known = true, .began = committed, .reset = true, .committed = committed};
    resets_[thread] = kNone;
}

void PartitionStory::finish(const group_table::PartitionWord& last) const {
    std::array<std::uint64_t, kThreadsMax + kGenerations + 2> allowed{};
    unsigned count = 0;
    const auto is_allowed = [&](std::uint64_t committed) {
        return std::find(allowed.begin(), allowed.begin() + count, committed) != allowed.begin() + count;
    };
    bool somebody_fell = false;
    for (unsigned thread = 0; thread < kThreadsMax; ++thread)
        somebody_fell = somebody_fell || fell(thread);
    require(last.generation >= first_ && last.generation - first_ < kGenerations, "the last generation cannot be");
    for (unsigned i = 0; i <= last.generation - first_; ++i) {
        const Generation& one = generations_[i];
        if (one.known) {
            require(i == 0 || one.reset || is_allowed(one.began), "an heir does not begin at the last commit");
            count = 0;
            allowed[count++] = one.committed;
            if (one.asked != kNone)
                allowed[count++] = one.asked;
            continue;
        }
        require(somebody_fell, "a generation that nobody knows of");
        for (const std::uint64_t target : resets_) {
            if (target != kNone)
                allowed[count++] = target;
        }
    }
    require(is_allowed(last.committed), "the last commit is lost, or one was counted that was refused");
}

GroupStage::GroupStage(const GroupShape& shape, const Bounds& bounds, unsigned threads)
    : Scenario(bounds, threads),
      shape_(shape),
      memory_(test::plain_groups_bytes(geometry(shape)) + test::page_up(layout::kReaderBlockBytes)),
      view_(memory_.data(), geometry(shape)) {
    share({memory_.data(), test::plain_groups_bytes(geometry(shape)) + test::page_up(layout::kReaderBlockBytes)});
    keep_calm_what_is_only_shown();
}

void GroupStage::keep_calm_what_is_only_shown() {
    const auto calm = [this](const auto& word) { keep_calm(&word, sizeof word); };
    const Groups& groups = view_.groups;
    for (std::uint32_t slot = 0; slot < shape_.groups_max; ++slot) {
        for (std::uint32_t partition = 0; partition < shape_.partitions; ++partition) {
            auto& cell = groups.cell(slot, partition);
            for (const auto* word :
                 {&cell.committed_ns, &cell.owned_ns, &cell.delivered, &cell.fenced, &cell.handovers})
                calm(*word);
        }
        for (std::uint32_t member = 0; member < shape_.members_max; ++member)
            calm(groups.member(slot, member).last_poll_ns);
        if (shape_.creates)
            continue;
        auto& group = groups.group(slot);
        for (const auto* word : {&group.born, &group.flags, &group.lag_records, &group.lag_ms})
            calm(*word);
    }
    calm(groups.control().dead);
    calm(log().readers->gates);
}

partition_log::LogMemory<ExploredMemory> GroupStage::log() const noexcept {
    partition_log::LogMemory<M> log;
    log.control = &view_.controls[0];
    log.readers =
        reinterpret_cast<layout::ReaderBlock<M>*>(memory_.data() + test::plain_groups_bytes(geometry(shape_)));
    log.records = 8;
    log.block = true;
    log.groups = {view_.groups, 0, true};
    return log;
}

void GroupStage::set_up() {
    group_table::GroupCreation<M> creation(view_.groups, client_of(kThreadsMax));
    const group_table::GroupOptions options{.gating = shape_.gating, .lag_records_max = shape_.lag_records_max};
    group_ = creation
                 .find_or_create(
                     kName, options, [](std::uint32_t) { return std::uint64_t{0}; }, NoneIsDead{})
                 .group;
    for (std::uint32_t partition = 0; partition < shape_.partitions; ++partition)
        view_.set_end(partition, 8);
    for (unsigned thread = 0; thread < shape_.members; ++thread) {
        members_[thread] = new_member(thread);
        (void)members_[thread]->join(NoneIsDead{}, view_.floors());
    }
    for (std::uint32_t partition = 0; partition < shape_.partitions; ++partition) {
        if (shape_.owned)
            (void)members_[0]->positions().acquire(partition, 1);
        first_generation_[partition] = word(partition).generation;
    }
    for (std::uint64_t look = 1; look < 9; ++look)
        (void)observer_.look(view_.groups, group_.slot, look * kLookNs);
}

void GroupStage::begin() {
    for (std::uint32_t partition = 0; partition < shape_.partitions; ++partition) {
        const group_table::PartitionWord first = word(partition);
        stories_[partition].begin(first.committed, first.generation);
    }
}

void GroupStage::finish() {
    for (std::uint32_t partition = 0; tells_stories_ && partition < shape_.partitions; ++partition)
        stories_[partition].finish(word(partition));
}

std::optional<group_table::Tenure> GroupStage::acquire(const Member& member, std::uint32_t partition) {
    const group_table::Acquired got = member.positions().acquire(partition, 1);
    if (got.status != AcquireStatus::acquired)
        return std::nullopt;
    stories_[partition].acquired(got.generation, got.committed);
    return group_table::Tenure{partition, got.generation};
}

bool GroupStage::commit(const Member& member, group_table::Tenure tenure, std::uint64_t offset) {
    PartitionStory& story = stories_[tenure.partition];
    group_table::CommitItem item;
    item.tenure = tenure;
    item.position = item.offset = offset;
    story.asks(tenure.generation, offset);
    const bool counted = member.positions().commit({&item, 1}, view_.floors(), 1);
    require(counted == (item.status == CommitStatus::committed), "a commit is answered in two ways");
    if (counted) {
        story.counted(tenure.generation, offset);
    } else {
        require(item.status == CommitStatus::fenced, "a commit is refused that goes on");
        story.refused(tenure.generation);
    }
    return counted;
}

void GroupStage::release(const Member& member, group_table::Tenure tenure, std::optional<std::uint64_t> finished) {
    PartitionStory& story = stories_[tenure.partition];
    story.gives_up(tenure.generation);
    if (finished)
        story.asks(tenure.generation, *finished);
    const auto released = member.positions().release(tenure, finished);
    if (!finished)
        return;
    if (released == group_table::ReleaseStatus::released) {
        story.counted(tenure.generation, *finished);
    } else {
        story.refused(tenure.generation);
    }
}

group_table::ResetDone GroupStage::reset(const group_table::GroupReset<M>& plan, std::uint32_t partition,
                                         std::uint64_t target) {
    PartitionStory& story = stories_[partition];
    story.resets(this_thread(), target);
    const group_table::ResetDone done = plan.set(partition, target, view_.controls[partition].gate_floor);
    story.reset_done(this_thread(), done.generation, target);
    return done;
}

void GroupStage::check_nobody_is_waited_for() {
    (void)group_table::evict_dead(view_.groups, group_.slot, IsDead{});
    (void)group_table::free_member_slots(view_.groups, group_.slot, IsDead{});
    const group_table::SetWord now = set();
    for (std::uint32_t slot = 0; slot < shape_.members_max; ++slot) {
        const group_table::HeadWord head = view_.groups.head(group_.slot, slot);
        require(!now.has(slot) || head.held, "a member without a slot");
        require(!head.held || !IsDead{}(head.client), "a slot of the dead is not free");
    }
}

std::string GroupStage::name_of_location(const void* address) const {
    const auto* const at = static_cast<const std::byte*>(address);
    const auto named = [&](const char* name, const void* base, std::size_t each, std::size_t count) -> std::string {
        const auto offset = static_cast<std::size_t>(at - static_cast<const std::byte*>(base));
        if (offset >= each * count)
            return {};
        return std::string(name) + '[' + std::to_string(offset / each) + "]+" + std::to_string(offset % each);
    };
    const Groups& groups = view_.groups;
    const std::size_t members = std::size_t{shape_.groups_max} * shape_.members_max;
    const std::size_t cells = std::size_t{shape_.groups_max} * shape_.partitions;
    if (address == &view_.controls[0].log_start)
        return "log_start";
    if (address == &view_.controls[0].gate_floor)
        return "gate_floor";
    for (const std::string& name : {named("group", &groups.group(0), sizeof groups.group(0), shape_.groups_max),
                                    named("member", &groups.member(0, 0), sizeof groups.member(0, 0), members),
                                    named("partition", &groups.cell(0, 0), sizeof groups.cell(0, 0), cells),
                                    named("groups", &groups.control(), sizeof groups.control(), 1)}) {
        if (!name.empty())
            return name;
    }
    return Scenario::name_of_location(address);
}

}  // namespace ringmain::explore
