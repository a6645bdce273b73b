// Building the files of the work on a group's records where nobody finds them, and removing them.
#include "work_creation.hpp"

#include "file_stamp.hpp"
#include "platform/files.hpp"
#include "platform/rights.hpp"
#include "rights_of_topic.hpp"
#include "ringmain/error.hpp"
#include "space_need.hpp"
#include "topic_paths.hpp"
#include "work_place.hpp"

namespace ringmain {

namespace {

namespace fs = std::filesystem;

using platform::Mapping;

constexpr char kInTheMaking = '.';

/// What a directory of files takes.
struct Need {
    std::string object;
    fs::path place;
    SpaceNeed space;
};

std::string text_of(const TopicFiles& topic, group_table::GroupRef group) {
    return "the work of the group in slot " + std::to_string(group.slot) + " of topic '" + topic.name() + "'";
}

Need need_of(const std::string& object, const fs::path& place, std::uint64_t partitions, std::uint64_t window, bool workers) {
    const auto free = platform::free_space(place);
    const std::uint64_t page = free ? free->page_bytes : layout::kPageBytes;
    const std::uint64_t bytes = partitions * whole_pages(layout::work_file_bytes(window), page) +
                                (workers ? whole_pages(layout::kWorkersFileBytes, page) : 0);
    return {object, place, {bytes, partitions + (workers ? 1 : 0) + 1}};  // 1: the directory
}

[[noreturn]] void no_space(const Need& need) {
    throw Error(ErrorCode::no_space, need.place.string(), no_space_text(need.object, need.place, platform::free_space(need.place), need.space));
}

void check_space(const Need& need) {
    if (lacks_space(platform::free_space(need.place), need.space))
        no_space(need);
}

/// One that exists gets its rights, too: its maker may have been killed before it had them. Whoever may not is not stopped by
/// that: what matters is whether he may make something in it.
WorkPlace open_queues(const TopicFiles& topic) {
    const bool made = platform::create_directory(queues_path(topic.directory()));
    WorkPlace queues(queues_path(topic.directory()));
    if (!made && platform::rights_of(queues.path()) == platform::rights_of(topic.directory()))
        return queues;
    try {
        give_rights_of_topic(topic, queues.path(), platform::set_rights_of_directory);
    } catch (const Error& error) {
        if (made)
            throw;
    }
    return queues;
}

void build_workers(const fs::path& path, const TopicId& id, const NewWork& work) {
    const Mapping file = platform::create_file(path, layout::kWorkersFileBytes);
    write_stamp(file, layout::FileKind::workers, id);
    layout::WorkSettings settings = work.settings;
    settings.group_slot = work.group.slot;
    settings.group_born = work.group.born;
    *reinterpret_cast<layout::WorkSettings*>(file.data() + layout::kWorkSettingsAt) = settings;
    mark_ready(file);  // the rest is right as zeros: no worker
    platform::sync_path(path);
}

void build_words(const fs::path& path, const TopicId& id, const layout::WorkGeometry& geometry) {
    const Mapping file = platform::create_file(path, layout::work_file_bytes(geometry.window));
    write_stamp(file, layout::FileKind::work, id);
    *reinterpret_cast<layout::WorkGeometry*>(file.data() + layout::kWorkGeometryAt) = geometry;
    mark_ready(file);  // the rest is right as zeros: every word is free, nothing was handed out
    platform::sync_path(path);
}

void build_files(const TopicFiles& topic, const fs::path& directory, const NewWork& work) {
    build_workers(workers_path(directory), topic.id(), work);
    for (std::uint32_t partition = 0; partition < work.generations.size(); ++partition) {
        const std::uint32_t generation = work.generations[partition];
        build_words(work_words_path(directory, partition, generation), topic.id(),
                    {work.group.born, work.group.slot, partition, work.window, generation, 0});
    }
}

/// Makes files by `build(directory)` in a directory that has a name of ours, which nobody else can enter meanwhile. Then
/// they have their rights, and `publish(directory)` gives them their names. Nothing is left of the directory afterwards.
template <class Build, class Publish>
void make_aside(const TopicFiles& topic, const WorkPlace& queues, const std::string& work_name, const Need& need, const Build& build,
                const Publish& publish) {
    check_space(need);
    const fs::path aside = queues / (kInTheMaking + work_name);
    try {
        if (!platform::create_directory(aside))
            throw Error(ErrorCode::io, aside.string(), "'" + aside.string() + "' exists");
        (void)platform::make_private(aside);
        build(aside);
        give_rights_of_topic(topic, aside, platform::set_rights);
        platform::sync_path(aside);
        publish(aside);
    } catch (const Error& error) {
        platform::remove_directory(aside);
        if (error.code() == ErrorCode::no_space)
            no_space(need);
        throw;
    } catch (...) {
        platform::remove_directory(aside);
        throw;
    }
    platform::remove_directory(aside);
    platform::sync_path(queues.path());
}

/// Whether there is work of this very group. A topic of the same name that was deleted while its work was made may have left
/// a directory of that name here, which is nobody's.
bool is_made(const TopicFiles& topic, const fs::path& made) {
    if (platform::kind_of(made) == platform::PathKind::absent)
        return false;
    try {
        const Mapping file(workers_path(made), platform::Access::read_only, layout::kWorkersFileBytes);
        if (check_stamp(file, workers_path(made), layout::FileKind::workers) == topic.id())
            return true;
    } catch (const Error&) {
        return true;  // whoever opens it says why it cannot be used
    }
    return !platform::remove_directory(made);
}

std::string name_of(group_table::GroupRef group) { return work_path({}, group.slot, group.born).filename().string(); }

/// What is built for a topic that is deleted meanwhile does not come to be, or goes with it.
[[noreturn]] void rethrow_unless_deleted(const TopicFiles& topic) {
    if (topic.deleted())
        throw Error(ErrorCode::topic_deleted, topic.name(), "topic '" + topic.name() + "' was deleted");
    throw;
}

}  // namespace

std::uint64_t work_bytes(std::uint32_t partitions, std::uint64_t window) noexcept {
    return layout::kWorkersFileBytes + partitions * layout::work_file_bytes(window);
}

WorkMade make_work(const TopicFiles& topic, const std::string& work_name, const NewWork& work) try {
    const WorkPlace queues = open_queues(topic);
    const fs::path made = queues / name_of(work.group);
    if (is_made(topic, made))
        return WorkMade::exists;
    WorkMade result = WorkMade::exists;
    make_aside(
        topic, queues, work_name, need_of(text_of(topic, work.group), topic.directory(), work.generations.size(), work.window, true),
        [&](const fs::path& aside) { build_files(topic, aside, work); },
        [&](const fs::path& aside) {
            if (platform::rename_directory(aside, made) == platform::RenameResult::renamed)
                result = WorkMade::made;
        });
    return result;
} catch (const Error&) {
    rethrow_unless_deleted(topic);
}

void make_words(const TopicFiles& topic, const std::string& work_name, const layout::WorkGeometry& like, std::uint32_t generation) try {
    const group_table::GroupRef group{like.group_slot, like.group_born};
    const WorkPlace queues = open_queues(topic);
    const WorkPlace work(queues, name_of(group));
    const std::string name = work_words_path({}, like.partition, generation).string();
    if (platform::kind_of(work / name) != platform::PathKind::absent)
        return;
    layout::WorkGeometry geometry = like;
    geometry.generation = generation;
    make_aside(
        topic, queues, work_name, need_of(text_of(topic, group), topic.directory(), 1, like.window, false),
        [&](const fs::path& aside) { build_words(aside / name, topic.id(), geometry); },
        [&](const fs::path& aside) { (void)platform::rename_file(aside / name, work / name); });
} catch (const Error&) {
    rethrow_unless_deleted(topic);
}

bool remove_work(const TopicFiles& topic, group_table::GroupRef group) noexcept try {
    return platform::remove_directory(WorkPlace(queues_path(topic.directory())) / name_of(group));
} catch (const Error& error) {
    return error.code() == ErrorCode::not_found;
} catch (const std::exception&) {
    return false;
}

bool remove_words(const TopicFiles& topic, group_table::GroupRef group, std::uint32_t partition, std::uint32_t generation) noexcept try {
    const WorkPlace work(WorkPlace(queues_path(topic.directory())), name_of(group));
    return platform::remove_file(work / work_words_path({}, partition, generation).string());
} catch (const std::exception&) {
    return false;
}

std::string_view work_name_of(std::string_view file_name) noexcept {
    return file_name.starts_with(kInTheMaking) ? file_name.substr(1) : std::string_view();
}

}  // namespace ringmain
