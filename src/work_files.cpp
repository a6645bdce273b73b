// The files of the work on a group's records, open. Every byte found in them is input.
#include "work_files.hpp"

#include <atomic>
#include <exception>
#include <string>
#include <utility>

#include "damage.hpp"
#include "error_about.hpp"
#include "file_stamp.hpp"
#include "group_table/group_options.hpp"
#include "topic_paths.hpp"
#include "work_settings.hpp"

namespace ringmain {

namespace {

namespace fs = std::filesystem;

using platform::Mapping;

/// Of the words of a stream group: they stay the same whoever owns the partition, and whatever it is reset to.
constexpr std::uint32_t kStreamGeneration = 0;

[[noreturn]] void corrupt(const fs::path& path, const std::string& what) {
    throw Error(ErrorCode::corrupt, path.string(), "'" + path.string() + "' " + what);
}

/// Maps a file, its stamp checked; at least `bytes` of it.
Mapping open_stamped(const fs::path& path, platform::Access access, layout::FileKind kind, const TopicId& topic, std::uint64_t bytes) {
    Mapping file(path, access, bytes);
    check_stamp(file, path, kind, topic);
    return file;
}

void check_group(const fs::path& path, std::uint32_t slot, std::uint64_t born, group_table::GroupRef expected) {
    if (slot == expected.slot && born == expected.born)
        return;
    corrupt(path, "belongs to the group in slot " + std::to_string(slot) + ", born at " + std::to_string(born) + ", not to the one in slot " +
                      std::to_string(expected.slot) + ", born at " + std::to_string(expected.born));
}

void check_words(const fs::path& path, const layout::WorkGeometry& found, const TopicOptions& topic, std::uint32_t partition,
                 std::uint32_t generation) {
    if (found.partition != partition || found.generation != generation) {
        corrupt(path, "is of partition " + std::to_string(found.partition) + ", generation " + std::to_string(found.generation) + ", not " +
                          std::to_string(partition) + " and " + std::to_string(generation));
    }
    if (!is_window(topic, found.window)) {
        corrupt(path, "has a window of " + std::to_string(found.window) + ", which is no power of two up to " +
                          std::to_string(window_max(topic)));
    }
}

}  // namespace

WorkFiles::WorkFiles(std::shared_ptr<const TopicFiles> topic, group_table::GroupRef group, std::string name, platform::Access access)
    : topic_(std::move(topic)),
      group_(group),
      name_(std::move(name)),
      access_(access),
      directory_(work_path(topic_->directory(), group.slot, group.born)) {
    try {
        open_workers();
    } catch (const Error&) {
        fail(std::current_exception());
    }
    parts_.resize(topic_->options().partitions);
}

void WorkFiles::open_workers() {
    const fs::path path = workers_path(directory_);
    workers_ = open_stamped(path, access_, layout::FileKind::workers, topic_->id(), layout::kWorkersFileBytes);
    settings_ = *reinterpret_cast<const layout::WorkSettings*>(workers_.data() + layout::kWorkSettingsAt);
    check_group(path, settings_.group_slot, settings_.group_born, group_);
    if (const auto fault = fault_of(settings_))
        corrupt(path, "has settings that cannot be: " + *fault);
    const bool queue = group_table::read_options(topic_->groups(), group_.slot).kind == group_table::GroupKind::queue;
    if (queue != is_queue())
        corrupt(path, std::string("is that of ") + (queue ? "a stream group, and the group is a queue" : "a queue, and the group is none"));
}

void WorkFiles::relink(const TopicId& letters, std::uint32_t partitions) noexcept {
    auto& stored = *reinterpret_cast<layout::WorkSettings*>(workers_.data() + layout::kWorkSettingsAt);
    set_letters(settings_, std::string(letters_name(settings_)), letters, partitions);
    // relaxed, all three: an id that is half the old one is no topic's
    std::atomic_ref(stored.letters_id_low).store(settings_.letters_id_low, std::memory_order_relaxed);
    std::atomic_ref(stored.letters_id_high).store(settings_.letters_id_high, std::memory_order_relaxed);
    std::atomic_ref(stored.letters_partitions).store(settings_.letters_partitions, std::memory_order_relaxed);
}

bool WorkFiles::is_queue() const noexcept { return settings_.kind == kWorkOfQueue; }

work_table::WorkRules WorkFiles::rules() const noexcept {
    const auto end_of = [](std::uint32_t stored) { return stored == 0 ? work_table::EndOf::dead_letter : work_table::EndOf::skip; };
    work_table::WorkRules rules;
    rules.lock_ms = settings_.lock_ms;
    rules.backoff_first_ms = settings_.backoff_first_ms;
    rules.backoff_max_ms = settings_.backoff_max_ms;
    rules.backoff_factor_permille = settings_.backoff_factor_permille;
    rules.backoff_jitter_permille = settings_.backoff_jitter_permille;
    rules.delivery_limit = settings_.delivery_limit;
    rules.in_flight_max = settings_.in_flight_max;
    rules.exhausted = end_of(settings_.exhausted);
    rules.expired = end_of(settings_.expired);
    return rules;
}

WorkFiles::Worker* WorkFiles::workers() const noexcept { return reinterpret_cast<Worker*>(workers_.data() + layout::kWorkersAt); }

std::uint32_t WorkFiles::generation_now(std::uint32_t partition) const noexcept {
    return is_queue() ? topic_->groups().word(group_.slot, partition).generation : kStreamGeneration;
}

bool WorkFiles::gone() const noexcept {
    group_table::SetWord set;
    return !topic_->groups().set_of(group_, set);
}

const WorkFiles::Part& WorkFiles::part(std::uint32_t partition) {
    const Part& open = parts_.at(partition).part;
    return open.base != nullptr ? open : reopen(partition);
}

const WorkFiles::Part& WorkFiles::reopen(std::uint32_t partition) {
    for (;;) {
        const std::uint32_t generation = generation_now(partition);
        try {
            return (parts_.at(partition) = open_words(partition, generation)).part;
        } catch (const Error&) {
            if (generation_now(partition) != generation && !gone())
                continue;  // reset, and what was there is gone
            fail(std::current_exception());
        }
    }
}

const WorkFiles::Part& WorkFiles::part_now(std::uint32_t partition) {
    const Open& open = parts_.at(partition);
    const bool same = open.part.base != nullptr && open.part.geometry.generation == generation_now(partition);
    return same && !open.mapping.truncated() ? open.part : reopen(partition);
}

bool WorkFiles::whole(std::uint32_t partition) const noexcept {
    return words_whole(partition) && !workers_.truncated() && topic_->groups_whole();
}

void WorkFiles::check_whole() const {
    topic_->check_whole();
    if (workers_.truncated())
        throw truncated_error(workers_path(directory_), workers_.size());
    for (const Open& open : parts_) {
        if (open.mapping.truncated())
            throw truncated_error(work_words_path(directory_, open.part.geometry.partition, open.part.geometry.generation),
                                  open.mapping.size());
    }
}

WorkFiles::Open WorkFiles::open_words(std::uint32_t partition, std::uint32_t generation) const {
    const fs::path path = work_words_path(directory_, partition, generation);
    Open open{open_stamped(path, access_, layout::FileKind::work, topic_->id(), layout::kWorkWordsAt), {}};
    const auto geometry = *reinterpret_cast<const layout::WorkGeometry*>(open.mapping.data() + layout::kWorkGeometryAt);
    check_group(path, geometry.group_slot, geometry.group_born, group_);
    check_words(path, geometry, topic_->options(), partition, generation);
    if (open.mapping.size() < layout::work_file_bytes(geometry.window)) {
        corrupt(path, "has " + std::to_string(open.mapping.size()) + " bytes; a window of " + std::to_string(geometry.window) + " needs " +
                          std::to_string(layout::work_file_bytes(geometry.window)));
    }
    open.part = {open.mapping.data(), geometry};
    return open;
}

/// What became of the group says more than a file that is gone with it.
void WorkFiles::fail(const std::exception_ptr& failure) const {
    if (topic_->deleted())
        throw error_about(ErrorCode::topic_deleted, "topic '" + topic_->name() + "'", "was deleted");
    topic_->check_whole();  // else no group is there
    if (gone())
        throw error_about(ErrorCode::not_found, group_text(name_, topic_->name()), "was deleted");
    try {
        std::rethrow_exception(failure);
    } catch (const Error& error) {
        if (error.code() != ErrorCode::not_found)
            throw;
        corrupt(error.object(), "is missing");
    }
}

}  // namespace ringmain
