// Topics whose files were unlinked from under those who have them open.
#include "topic_farewells.hpp"

#include <utility>

#include "platform/mapped_files.hpp"
#include "topic_paths.hpp"
#include "topic_removal.hpp"

namespace ringmain {

namespace {

constexpr std::int64_t kFarewellNs = 600'000'000;  // how long files may follow the first one
constexpr std::int64_t kLookNs = 100'000'000;

}  // namespace

void TopicFarewells::add(std::shared_ptr<const TopicFiles> files, const KeeperStep& step) {
    farewells_.push_back({std::move(files), step.now_ns});
}

void TopicFarewells::step(KeeperStep& step) {
    std::erase_if(farewells_, [&](Farewell& farewell) {
        return tell(farewell) || !is_recent(farewell.since_ns, step.now_ns, kFarewellNs);
    });
    if (!farewells_.empty())
        step.due_at(step.now_ns + kLookNs);
}

/// True: everybody is told.
bool TopicFarewells::tell(Farewell& farewell) {
    for (const TopicFiles::SharedFile& file : farewell.files->shared_files()) {
        const bool readers = file.path == readers_path(farewell.files->directory());
        const bool groups = file.path == groups_path(farewell.files->directory());
        if (!file.writable || !platform::is_unlinked(file.identity))
            continue;
        if (readers && !std::exchange(farewell.handles_told, true))
            tell_handles(*farewell.files);
        if (groups && !std::exchange(farewell.members_told, true))
            tell_members(*farewell.files);
    }
    return farewell.handles_told && farewell.members_told;
}

}  // namespace ringmain
