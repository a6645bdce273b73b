// Looking for contradictions in a topic's groups: words that nobody would write.
#include "group_verification.hpp"

#include <string>
#include <vector>

#include "group_table/group_options.hpp"
#include "group_table/groups_memory.hpp"
#include "group_table/shared_text.hpp"
#include "topic_paths.hpp"

namespace ringmain {

namespace {

using group_table::GroupState;
using group_table::SetWord;
using Groups = group_table::GroupsMemory<platform::HostMemory>;

/// The findings about one group, kept until it is sure that they belong to one group.
class GroupVerifier {
public:
    GroupVerifier(const Groups& groups, std::uint32_t slot) noexcept : groups_(groups), slot_(slot), set_(groups.set(slot)) {}

    [[nodiscard]] std::vector<std::string> run() {
        if (set_.state != GroupState::open)
            return {};
        check_name();
        check_members();
        for (std::uint32_t partition = 0; partition < groups_.partitions(); ++partition)
            check_word(partition);
        if (groups_.set(slot_) != set_)
            return {};
        return std::move(found_);
    }

private:
    void damage(const std::string& what) { found_.push_back("group in slot " + std::to_string(slot_) + ": " + what); }

    void check_name() {
        const auto& group = groups_.group(slot_);
        const std::uint64_t length = group.name_length.load(std::memory_order_acquire);  // acquire GROUP_FIELD
        if (length == 0 || length > layout::kGroupNameMax) {
            damage("its name has " + std::to_string(length) + " bytes");
            return;
        }
        const std::uint64_t hash = group.name_hash.load(std::memory_order_acquire);  // acquire GROUP_FIELD
        if (group_table::hash_of(group_table::read_text(group.name, length)) != hash)
            damage("its name does not belong to its hash");
        if (groups_.born(slot_) > set_.epoch)
            damage("it was born at epoch " + std::to_string(groups_.born(slot_)) + ", after its epoch " + std::to_string(set_.epoch));
    }

    void check_members() {
        if ((set_.live & ~groups_.members_mask()) != 0)
            damage("a member lies outside of the " + std::to_string(groups_.members_max()) + " member slots");
        for (std::uint32_t member = 0; member < groups_.members_max(); ++member) {
            if (!set_.has(member) || groups_.head(slot_, member).held)
                continue;
            damage("member slot " + std::to_string(member) + " is free, and in the set");
        }
    }

    void check_word(std::uint32_t partition) {
        const group_table::PartitionWord word = groups_.word(slot_, partition);
        const bool queue = group_table::read_options(groups_, slot_).kind == group_table::GroupKind::queue;
        if (queue != (word.owner == group_table::kQueueOwner))
            damage("partition " + std::to_string(partition) + " is " + (queue ? "a queue's, and owned by a member" : "owned by a queue, which it is not"));
        if (queue || word.owner.word == 0)
            return;
        if (word.owner.slot() >= groups_.members_max())
            damage("partition " + std::to_string(partition) + " is owned by member slot " + std::to_string(word.owner.slot()));
        if (word.generation == 0)
            damage("partition " + std::to_string(partition) + " is owned without a generation");
    }

    const Groups& groups_;
    std::uint32_t slot_;
    SetWord set_;
    std::vector<std::string> found_;
};

}  // namespace

void verify_groups(const TopicFiles& topic, VerifyReport& report) {
    const Groups& groups = topic.groups();
    const std::string file = groups_path(topic.directory()).string();
    const auto directory = group_table::DirWord::from(platform::load16(groups.control().dir));  // acquire GROUP_DIR
    if (directory.slot_plus_one > groups.groups_max())
        report.damage.push_back({file, "a creation is decided for slot " + std::to_string(directory.slot_plus_one - 1)});
    for (std::uint32_t slot = 0; slot < groups.groups_max(); ++slot) {
        for (std::string& what : GroupVerifier(groups, slot).run())
            report.damage.push_back({file, std::move(what)});
    }
}

}  // namespace ringmain
