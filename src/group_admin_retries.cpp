// The retries of a group: what was decided, and what the words of its partitions say at this moment.
#include <algorithm>

#include "backoff_options.hpp"
#include "error_about.hpp"
#include "group_admin_impl.hpp"
#include "retries_moved.hpp"
#include "work_counts.hpp"
#include "work_files.hpp"
#include "work_settings.hpp"
#include "work_table/work_memory.hpp"

namespace ringmain {

namespace {

using Work = work_table::WorkMemory<platform::HostMemory>;
using work_table::WorkState;

void count(std::uint64_t word, RetryPartitionDescription& description) noexcept {
    switch (work_table::state_of(word)) {
        case WorkState::locked:
            ++description.in_hand;
            break;
        case WorkState::ready:
            ++(work_table::condemned(word) ? description.ending : description.waiting);
            break;
        case WorkState::preparing:
        case WorkState::intent:
            ++description.ending;
            break;
        case WorkState::done:
            break;
    }
}

RetryPartitionDescription describe_words(const Work& work) noexcept {
    RetryPartitionDescription description;
    const std::uint64_t start = work.start();
    const std::uint64_t frontier = work.control().frontier.load(std::memory_order_acquire);  // acquire FRONTIER
    const std::uint64_t end = std::min(frontier, start + work.window());
    for (std::uint64_t offset = start; offset < end; ++offset) {
        const std::uint64_t word = work.word_of(offset);
        if (work_table::is_done(word, offset))
            ++description.finished;
        else if (!work_table::is_free(word, work.lap(offset)))
            count(word, description);
    }
    read_work_counts(work.control(), description);
    return description;
}

RetryDescription describe_settings(const layout::WorkSettings& settings) {
    RetryDescription description;
    description.attempts = settings.delivery_limit;
    description.backoff = stored_backoff(settings);
    description.exhausted = static_cast<Exhausted>(settings.exhausted);
    description.dead_letter_topic = letters_name(settings);
    return description;
}

}  // namespace

/// What is damaged is said, and hides nothing else of the group.
void GroupAdmin::Impl::add_retries(AdminTopic& topic, const View& group, GroupDescription& description) {
    if (group.options.kind == group_table::GroupKind::queue || !has_retries(topic.files(), group.group))
        return;
    try {
        WorkFiles work(topic.handle(), group.group, group.name, platform::Access::read_only);
        description.retries = describe_settings(work.settings());
        description.retries->dead_letters_gone = letters_gone(work.settings());
        for (GroupPartitionDescription& partition : description.partitions) {
            const WorkFiles::Part& part = work.part(partition.lag.partition);
            partition.retries = describe_words(Work(part.base, part.geometry, topic.groups(), {}));
        }
        work.check_whole();
    } catch (const Error& error) {
        if (!description.retries)
            description.retries.emplace();
        description.retries->damage = error.what();
        for (GroupPartitionDescription& partition : description.partitions)
            partition.retries.reset();
    }
}

/// Not if that cannot be found out: then it is found by whoever looks at that topic.
bool GroupAdmin::Impl::letters_gone(const layout::WorkSettings& settings) {
    if (letters_name(settings).empty())
        return false;
    try {
        return open(letters_name(settings)).files().id() != letters_id(settings);
    } catch (const Error& error) {
        return is_gone(error);
    }
}

}  // namespace ringmain
