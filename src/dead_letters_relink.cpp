// Linking a queue or a group with retries to a dead-letter topic that was deleted and made anew.
//
//   nobody works -> the topic is there -> announced letters are forgotten -> its id is written down
//
// Whoever dies in between leaves records that wait for a letter, and the old link: it is done again.
#include <string>

#include "dead_letter_topic.hpp"
#include "dead_letters_impl.hpp"
#include "death_oracle.hpp"
#include "error_about.hpp"
#include "group_table/creation.hpp"
#include "group_table/eviction.hpp"
#include "queue_partition.hpp"
#include "retries_moved.hpp"
#include "work_files.hpp"
#include "work_settings.hpp"
#include "work_table/relinking.hpp"
#include "work_table/workers.hpp"

namespace ringmain {

namespace {

using platform::HostMemory;

std::string text_of(const WorkFiles& work) { return group_text(work.name(), work.topic().name()); }

WorkFiles open_work(const std::shared_ptr<const TopicFiles>& topic, const std::string& name) {
    const auto found = group_table::GroupCreation<HostMemory>(topic->groups(), 0).find(name);
    if (found.status != group_table::FindStatus::found)
        throw error_about(ErrorCode::not_found, "topic '" + topic->name() + "'",
                          "has no queue or group '" + name + "'");
    if (!has_retries(*topic, found.group)) {
        throw error_about(ErrorCode::mismatch, group_text(name, topic->name()),
                          "has no dead letters: it is no work queue, and its failures are not retried");
    }
    WorkFiles work(topic, found.group, name, platform::Access::read_write);
    if (letters_name(work.settings()).empty())
        throw error_about(ErrorCode::mismatch, text_of(work), "sends no record to a dead-letter topic");
    return work;
}

/// Who works knows the old topic, and writes no letter until it ends.
void refuse_who_works(const WorkFiles& work, const DeathOracle& is_dead) {
    const auto& groups = work.topic().groups();
    std::uint32_t working = 0;
    if (work.is_queue()) {
        const work_table::Workers<HostMemory> workers(work.workers(), layout::kWorkersMax);
        for (std::uint32_t slot = 0; slot < workers.count(); ++slot)
            working += workers.owner(slot) != 0 && !is_dead(workers.owner(slot)) ? 1 : 0;
    } else {
        group_table::evict_dead(groups, work.group().slot, is_dead);
        working = groups.set(work.group().slot).members();
    }
    if (working == 0)
        return;
    throw error_about(
        ErrorCode::busy, text_of(work),
        "has " + std::to_string(working) + (work.is_queue() ? " workers" : " members") +
            ", which know the old dead-letter topic: it can be linked to the new one when they have ended");
}

}  // namespace

bool DeadLetters::Impl::relink(std::string_view topic_name, std::string_view group) const {
    const std::shared_ptr<const TopicFiles> topic = impl()->open_topic(topic_name);
    WorkFiles work = open_work(topic, std::string(group));
    const DeadLetterTopic letters =
        provide_dead_letter_topic(impl(), *topic, group, std::string(letters_name(work.settings())));
    if (letters.id == letters_id(work.settings()))
        return false;
    refuse_who_works(work, DeathOracle(impl()->clients()));
    for (std::uint32_t partition = 0; partition < topic->options().partitions; ++partition) {
        const WorkFiles::Part& part = work.part(partition);
        work_table::forget_tickets(work_table::WorkMemory<HostMemory>(part.base, part.geometry, topic->groups(), {}),
                                   work_clock_ms());
    }
    work.check_whole();  // else letters of the old topic are announced still
    work.relink(letters.id, letters.partitions);
    work.check_whole();
    return true;
}

}  // namespace ringmain
