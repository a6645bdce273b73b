// Resetting queues: each partition begins anew, with words of its own.
//
//   file <partition>.<g+1>, all words free -> the partition's word {target, g+1} -> old words retired -> the old file goes
//
// Nobody who still has the old file reaches a record by it: every answer looks at the generation behind its exchange. Whoever
// dies in between leaves a file that nobody has used, which the next reset uses, or an old one, which a keeper removes.
#include <algorithm>
#include <string>
#include <vector>

#include "dead_letter_log.hpp"
#include "error_about.hpp"
#include "group_table/group_gates.hpp"
#include "platform/clock.hpp"
#include "queue_admin_impl.hpp"
#include "queue_opening.hpp"
#include "queue_options.hpp"
#include "work_creation.hpp"
#include "work_settings.hpp"
#include "work_table/retiring.hpp"

namespace ringmain {

namespace {

using group_table::PartitionWord;
using Work = work_table::WorkMemory<platform::HostMemory>;

/// A record whose dead letter is announced, and may be there or not.
struct Announced {
    std::uint64_t offset = 0;
    std::uint64_t word = 0;
};

std::vector<Announced> letters_under_way(const Work& work) {
    std::vector<Announced> letters;
    const std::uint64_t start = work.start();
    const std::uint64_t frontier = work.control().frontier.load(std::memory_order_acquire);  // acquire FRONTIER
    const std::uint64_t end = std::min(frontier, start + work.window());
    for (std::uint64_t offset = start; offset < end; ++offset) {
        const std::uint64_t word = work.word_of(offset);
        if (work_table::state_of(word) == work_table::WorkState::intent && work_table::lap_bits(word) == work.lap(offset))
            letters.push_back({offset, word});
    }
    return letters;
}

/// Decides the letter: it is there, or its ticket is closed and it never will be. Then the record waits for another one. False: its
/// topic is damaged, and nothing was done.
bool decide(const Work& work, const Announced& announced, DeadLetterLog& letters) noexcept {
    const std::uint32_t count = work_table::count_of(announced.word);
    bool there = false;
    if (letters.usable()) {
        const auto decision = letters.close(work_table::ticket_of(announced.word));
        if (!decision) return false;
        there = decision == partition_log::Decision::committed;
    }
    const std::uint64_t after = there ? work_table::done_word(announced.offset, work_table::DoneReason::dead)
                                      : work_table::condemned_word(count, platform::shared_monotonic_ms(), work_table::reason_of(announced.word),
                                                                   work.lap(announced.offset));
    if (work.change(announced.offset, announced.word, after) && there) work.count(work.control().dead_lettered);  // lost: a worker did it
    return true;
}

/// A plan that is run again leaves alone what it did already: workers may have begun there.
bool is_done(const PartitionReset& one, const PartitionWord& word, std::uint64_t target) noexcept {
    return word.generation == group_table::next_generation(one.generation) && word.touched && word.committed == target;
}

}  // namespace

ResetPlan QueueAdmin::Impl::plan(std::string_view topic_name, std::string_view queue, const ResetTarget& target) {
    AdminTopic& topic = groups_.open(topic_name);
    (void)require_queue(topic.files(), queue);
    return groups_.plan(topic_name, queue, target, group_table::GroupKind::queue);
}

void QueueAdmin::Impl::finish_letters(AdminTopic& topic, WorkFiles& work, std::uint32_t partition) const {
    const Work words = QueueReader::words(topic, work, partition);
    const std::vector<Announced> announced = letters_under_way(words);
    if (announced.empty()) return;
    DeadLetterLogs logs(groups_.shared_broker(), work.handle(), work.name(), dead_letter_topic_of(work.settings()));
    DeadLetterLog letters(logs, partition, words.reader());
    for (const Announced& one : announced) {
        if (decide(words, one, letters)) continue;
        throw error_about(ErrorCode::corrupt, queue_text(topic.name(), work.name()),
                          "cannot be reset now: whether the dead letter of partition " + std::to_string(partition) + " offset " +
                              std::to_string(one.offset) + " was written cannot be found out, since topic '" +
                              std::string(letters_name(work.settings())) + "' is damaged; run 'ringmain verify'");
    }
    work.check_whole();
    const std::vector<Announced> again = letters_under_way(words);
    if (again.empty()) return;
    throw error_about(ErrorCode::busy, queue_text(topic.name(), work.name()),
                      "cannot be reset now: the dead letter of partition " + std::to_string(partition) + " offset " +
                          std::to_string(again.front().offset) + " is under way; try again");
}

/// Workers that are stopped with a word of before the reset find it changed, and write no letter of it.
void QueueAdmin::Impl::retire_words(AdminTopic& topic, WorkFiles& work, std::uint32_t partition) const {
    const WorkFiles::Part& before = work.part(partition);
    const auto& log = topic.log(partition);
    const Work words(before.base, before.geometry, topic.groups(), log);
    DeadLetterLogs logs(groups_.shared_broker(), work.handle(), work.name(), dead_letter_topic_of(work.settings()));
    DeadLetterLog letters(logs, partition, partition_log::Reader<platform::HostMemory>(log));
    work_table::retire(words, letters);
}

PartitionResetDone QueueAdmin::Impl::reset_partition(AdminTopic& topic, WorkFiles& work, const PartitionReset& one, bool gating) {
    const auto& groups = topic.groups();
    const group_table::GroupRef group = work.group();
    const std::uint64_t target = target_now(one, topic, gating);
    PartitionWord word = groups.word(group.slot, one.partition);
    if (is_done(one, word, target)) return {one.partition, one.target, word.committed, word.generation};
    for (;;) {
        const layout::WorkGeometry like = work.reopen(one.partition).geometry;
        word = groups.word(group.slot, one.partition);
        if (word.generation != like.generation) continue;  // others reset it in between
        const PartitionWord to{target, true, gating, group_table::next_generation(word.generation), group_table::kQueueOwner};
        make_words(topic.files(), groups_.broker().work_name(), like, to.generation);
        const std::uint32_t old = word.generation;
        bool moved = false;
        do {  // lost: the start moved, by workers
            if (work.gone()) throw error_about(ErrorCode::mismatch, queue_text(topic.name(), work.name()), "was deleted while it was reset");
            moved = groups.change_word(group.slot, one.partition, word, to);
        } while (!moved && word.generation == old);
        if (moved) retire_words(topic, work, one.partition);
        // what was made for nothing, when others reset at the same time, or what nobody uses any more
        const std::uint32_t useless = moved ? old : to.generation;
        if (moved || word.generation != to.generation) (void)remove_words(topic.files(), group, one.partition, useless);
        if (!moved) continue;
        const auto gate = group_table::regate(groups, group.slot, one.partition, topic.log(one.partition).control->gate_floor,
                                              group_table::BelowFloor::raise);
        return {one.partition, one.target, gate.committed, to.generation};
    }
}

std::vector<PartitionResetDone> QueueAdmin::Impl::execute(const ResetPlan& plan, bool force) {
    AdminTopic& topic = groups_.open(plan.topic);
    check_plan(plan, topic);
    GroupAdmin::Impl::check_writable(topic);
    const group_table::GroupRef group{plan.group_slot, plan.group_born};
    WorkFiles work = open_queue(topic.handle(), plan.group, platform::Access::read_write);
    if (work.group() != group)
        throw error_about(ErrorCode::mismatch, queue_text(plan.topic, plan.group), "is another one by now than the plan was made for");
    if (!force) refuse_workers(work, "reset it");
    const bool gating = group_table::wants_gates(topic.groups(), group.slot);
    check_targets(plan, topic, gating, force);
    for (const PartitionReset& one : plan.partitions) finish_letters(topic, work, one.partition);
    std::vector<PartitionResetDone> done;
    for (const PartitionReset& one : plan.partitions) done.push_back(reset_partition(topic, work, one, gating));
    wake_workers(topic.files());
    return done;
}

}  // namespace ringmain
