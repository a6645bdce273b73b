// What killed creations, resets and deletions of queues left in a topic's `queues`.
//
// Names are listed before the words that decide about them are read: what is made later is not on the list. A file of the
// generation that would come next may be in the hands of somebody who is about to reset the queue; it is left to the next reset.
#include "work_leftovers.hpp"

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "death_oracle.hpp"
#include "group_table/creation.hpp"
#include "group_table/group_options.hpp"
#include "platform/files.hpp"
#include "ringmain/error.hpp"
#include "topic_paths.hpp"
#include "work_creation.hpp"
#include "work_names.hpp"
#include "work_place.hpp"

namespace ringmain {

namespace {

namespace fs = std::filesystem;

using group_table::GroupRef;
using group_table::GroupState;

/// "<first><separator><second>", both decimal, and nothing else.
template <class First, class Second>
std::optional<std::pair<First, Second>> two_numbers(std::string_view name, char separator) noexcept {
    std::pair<First, Second> numbers;
    const char* const end = name.data() + name.size();
    const auto [first_end, first_error] = std::from_chars(name.data(), end, numbers.first);
    if (first_error != std::errc() || first_end == end || *first_end != separator)
        return std::nullopt;
    const auto [second_end, second_error] = std::from_chars(first_end + 1, end, numbers.second);
    if (second_error != std::errc() || second_end != end)
        return std::nullopt;
    return numbers;
}

/// One look at all leftovers of a topic.
class Leftovers {
public:
    /// `removes`: leftovers are to be removed; then claims of dead creators are freed, too.
    Leftovers(const TopicFiles& topic, const client_table::ClientTable& clients, bool removes) noexcept
        : topic_(topic), clients_(clients), is_dead_(clients), removes_(removes) {}

    /// Calls `leftover(path)` for each; true: it was one, and is counted.
    template <class Found>
    std::uint64_t for_each(const Found& leftover) const {
        std::uint64_t count = 0;
        const WorkPlace queues(queues_path(topic_.directory()));
        for (const std::string& name : platform::names_in(queues.path())) {
            if (is_leftover(name)) {
                topic_.check_stamps();  // of a groups file that is none any more every queue would be a leftover
                count += leftover(queues / name) ? 1 : 0;
            } else if (const auto group = group_of(name); group && is_queue(*group)) {
                count += old_words(WorkPlace(queues, name), *group, leftover);
            }
        }
        return count;
    }

private:
    [[nodiscard]] static std::optional<GroupRef> group_of(std::string_view name) noexcept {
        const auto numbers = two_numbers<std::uint32_t, std::uint64_t>(name, '-');
        return numbers ? std::optional(GroupRef{numbers->first, numbers->second}) : std::nullopt;
    }

    /// What has no name of ours is somebody else's.
    [[nodiscard]] bool is_leftover(const std::string& name) const noexcept {
        if (const std::string_view maker = work_name_of(name); !maker.empty()) {
            const auto client = maker_of(maker);
            return client && clients_.proven_dead(*client);
        }
        const auto group = group_of(name);
        return group && !is_wanted(*group);
    }

    /// The group exists, or somebody who may be alive is about to open it; or nothing is known of it.
    [[nodiscard]] bool is_wanted(GroupRef group) const noexcept {
        const auto& groups = topic_.groups();
        if (group.slot >= groups.groups_max()) return false;
        const group_table::SetWord set = groups.set(group.slot);
        if (set.epoch == 0) return true;  // a slot that was never used has given no name: its words are none any more
        if (set.state == GroupState::open) return groups.born(group.slot) == group.born;
        if (set.state != GroupState::claimed || set.epoch + 1 != group.born) return false;
        if (!is_dead_(set.live)) return true;
        if (!removes_) return false;
        return !topic_.groups_writable() || !group_table::GroupCreation<platform::HostMemory>(groups, 0).free_dead_claim(group.slot, is_dead_);
    }

    /// Those of a stream group are of one generation.
    [[nodiscard]] bool is_queue(GroupRef group) const noexcept {
        return group_table::read_options(topic_.groups(), group.slot).kind == group_table::GroupKind::queue;
    }

    template <class Found>
    std::uint64_t old_words(const WorkPlace& work, GroupRef group, const Found& leftover) const {
        std::uint64_t count = 0;
        for (const std::string& name : platform::names_in(work.path())) {
            const auto words = two_numbers<std::uint32_t, std::uint32_t>(name, '.');
            if (!words || words->first >= topic_.options().partitions) continue;
            const std::uint32_t now = topic_.groups().word(group.slot, words->first).generation;
            if (!is_wanted(group)) break;  // then the word is another group's
            if (words->second == now || words->second == group_table::next_generation(now)) continue;
            topic_.check_stamps();
            count += leftover(work / name) ? 1 : 0;
        }
        return count;
    }

    const TopicFiles& topic_;
    const client_table::ClientTable& clients_;
    DeathOracle is_dead_;
    bool removes_;
};

template <class Found>
std::uint64_t count(const TopicFiles& topic, const client_table::ClientTable& clients, bool removes, const Found& leftover) noexcept {
    try {
        return Leftovers(topic, clients, removes).for_each(leftover);
    } catch (const std::exception&) {
        return 0;  // may not be listed: another user's, or the next look's
    }
}

}  // namespace

std::uint64_t sweep_work_leftovers(const TopicFiles& topic, const client_table::ClientTable& clients) noexcept {
    return count(topic, clients, true, [](const fs::path& path) { return platform::remove_directory(path); });
}

std::uint64_t count_work_leftovers(const TopicFiles& topic, const client_table::ClientTable& clients) noexcept {
    return count(topic, clients, false, [](const fs::path&) { return true; });
}

}  // namespace ringmain
