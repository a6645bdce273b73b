// An open broker directory: topics are created, found, deleted and swept here.
//
// What a process that dies at any step leaves behind, and who deals with it, is the table in docs/recovery.md,
// "Creation and deletion"; each of its rows has a test.
#include "broker_impl.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "broker_directory.hpp"
#include "platform/files.hpp"
#include "platform/random.hpp"
#include "ringmain/error.hpp"
#include "topic_creation.hpp"
#include "topic_name.hpp"
#include "topic_paths.hpp"
#include "topic_removal.hpp"
#include "work_names.hpp"

namespace ringmain {

namespace {

// Another process is between two system calls of moving a dead topic away; only one that is stopped there takes longer.
constexpr std::chrono::milliseconds kMoverPatience{2000};

// Links are followed on the way to the broker directory, once; never in it, where others may be able to make them.
std::filesystem::path resolved(std::filesystem::path directory) {
    std::error_code failure;
    const std::filesystem::path whole = std::filesystem::absolute(directory, failure);
    std::filesystem::path real =
        failure || directory.empty() ? std::filesystem::path() : std::filesystem::weakly_canonical(whole, failure);
    if (failure || real.empty())
        return directory;
    return real.has_filename() ? real : real.parent_path();
}

// What cannot be listed, another user or a later sweep has to sweep.
std::vector<std::string> names_to_sweep(const std::filesystem::path& directory) {
    try {
        return platform::names_in(directory);
    } catch (const Error&) {
        return {};
    }
}

[[noreturn]] void interrupted(std::string_view name) {
    throw Error(ErrorCode::interrupted, std::string(name),
                "the creation of topic '" + std::string(name) + "' was interrupted");
}

[[noreturn]] void another_topic(std::string_view name, const TopicId& id) {
    throw Error(
        ErrorCode::mismatch, std::string(name),
        "topic '" + std::string(name) + "' is another one by now, and not the one with the id " + to_string(id));
}

[[noreturn]] void busy_name(std::string_view name) {
    throw Error(
        ErrorCode::not_ready, std::string(name),
        "topic '" + std::string(name) + "' was deleted, and a process that is stopped holds its name; try again");
}

}  // namespace

Broker::Impl::Impl(std::filesystem::path directory, Mode mode)
    : directory_(resolved(std::move(directory))),
      is_new_(mode == Mode::open_or_create && make_broker_directory(directory_)),
      clients_(open_client_table(directory_)) {}

void Broker::Impl::check_not_forked() const {
    if (!fork_guard_.forked())
        return;
    throw Error(ErrorCode::forked, directory_.string(),
                "the broker '" + directory_.string() + "' was opened before fork(); open it again in the child");
}

std::filesystem::path Broker::Impl::topic_path(std::string_view name) const { return topics_path(directory_) / name; }

std::string Broker::Impl::work_name() {
    const layout::ClientId me = client();
    // relaxed: only distinctness matters
    const std::uint64_t number = work_counter_.fetch_add(1, std::memory_order_relaxed);
    return ringmain::work_name(me, number);
}

bool Broker::Impl::is_leftover(std::string_view name) const noexcept {
    const auto maker = maker_of(name);
    return maker && clients_.proven_dead(*maker);
}

layout::ClientId Broker::Impl::client() {
    check_not_forked();
    const std::lock_guard lock(mutex_);
    if (clients_.attached()) return clients_.id();
    const layout::ClientId me = clients_.attach();
    platform::knock(clients_.path());  // a keeper at rest is to watch this process from now on
    return me;
}

std::shared_ptr<const TopicFiles> Broker::Impl::open_topic(std::string_view name) const {
    check_not_forked();
    check_topic_name(name);
    return std::make_shared<const TopicFiles>(topic_path(name), std::string(name));
}

// True: nothing has the name any more. Helps a deletion that was not finished.
bool Broker::Impl::name_is_free(std::string_view name) {
    switch (state_of_name(topic_path(name))) {
        case NameState::free:
            return true;
        case NameState::live:
            return false;
        case NameState::dead:
            break;
        case NameState::foreign:
            throw Error(ErrorCode::mismatch, topic_path(name).string(),
                        "'" + topic_path(name).string() + "' exists and is not a topic");
    }
    if (!bury(directory_, std::string(name), work_path(trash_path(directory_)), kMoverPatience))
        busy_name(name);
    return state_of_name(topic_path(name)) == NameState::free;
}

bool Broker::Impl::try_create_topic(std::string_view name, const TopicOptions& options,
                                    const std::function<bool()>& stop, const std::optional<TopicId>& id) {
    check_not_forked();
    check_topic_name(name);
    check_topic_options(name, options);
    if (!name_is_free(name))
        return false;
    sweep_leftovers();  // first, because they may hold the space that is needed

    const std::filesystem::path staging = work_path(staging_path(directory_));
    build_topic(staging, name, options, id ? *id : platform::random_id(), stop);
    try {
        if (stop && stop())
            interrupted(name);
        // The linearisation point: before it there is no topic, after it there is a complete one.
        while (platform::rename_directory(staging, topic_path(name)) != platform::RenameResult::renamed) {
            if (name_is_free(name))
                continue;
            platform::remove_directory(staging);
            return false;
        }
    } catch (...) {
        platform::remove_directory(staging);
        throw;
    }
    platform::sync_path(topics_path(directory_));
    return true;
}

void Broker::Impl::delete_topic(std::string_view name, const std::optional<TopicId>& id) {
    const layout::ClientId me = client();
    for (;;) {
        std::shared_ptr<const TopicFiles> topic;
        try {
            topic = open_topic(name);  // throws not_found in the end
        } catch (const Error& error) {
            if (!is_beyond_opening(error) || id)
                throw;
        }
        if (!topic) {  // nothing of it is to be believed, not even that it lives
            if (bury_damaged(directory_, std::string(name), work_path(trash_path(directory_)), kMoverPatience, me.word()))
                return;
            continue;
        }
        if (id && topic->id() != *id)
            another_topic(name, *id);
        if (mark_dead(*topic, me.word()))
            break;
    }
    // The topic is gone. If somebody who is stopped holds its name, the next creation or sweep goes on from here.
    bury(directory_, std::string(name), work_path(trash_path(directory_)), kMoverPatience);
}

std::vector<std::string> Broker::Impl::list_topics(const KnownTopics& known) const {
    check_not_forked();
    std::vector<std::string> names;
    for (std::string& name : platform::names_in(topics_path(directory_))) {
        if (!is_topic_name(name) || (known && known(name)))
            continue;
        if (state_of_name(topic_path(name)) == NameState::live)
            names.push_back(std::move(name));
    }
    std::sort(names.begin(), names.end());
    return names;
}

std::uint64_t Broker::Impl::sweep_leftovers(const KnownTopics& known, std::uint64_t& files_left) {
    check_not_forked();
    // of the trash also what this process itself has left there, because a sweep ended; nobody minds who removes it
    return sweep_work(staging_path(directory_), false, files_left) + sweep_work(trash_path(directory_), true, files_left) +
           sweep_dead_names(known, files_left) + sweep_half_made_files(directory_);
}

bool Broker::Impl::is_mine(layout::ClientId maker) noexcept {
    const std::lock_guard lock(mutex_);
    return clients_.attached() && clients_.id() == maker;
}

std::uint64_t Broker::Impl::sweep_work(const std::filesystem::path& parent, bool own_too, std::uint64_t& files_left) {
    std::uint64_t swept = 0;
    for (const std::string& name : names_to_sweep(parent)) {
        if (files_left == 0)
            break;
        const auto maker = maker_of(name);
        const bool may = is_leftover(name) || (own_too && maker && is_mine(*maker));
        if (may && platform::remove_directory(parent / name, files_left))
            ++swept;
    }
    return swept;
}

Broker::Impl::Leftovers Broker::Impl::count_leftovers(const KnownTopics& known) const {
    check_not_forked();
    return {count_work(staging_path(directory_)) + count_work(trash_path(directory_)),
            count_half_made_files(directory_), count_dead_names(known)};
}

std::uint64_t Broker::Impl::count_work(const std::filesystem::path& parent) const {
    const std::vector<std::string> names = names_to_sweep(parent);
    return static_cast<std::uint64_t>(
        std::count_if(names.begin(), names.end(), [this](const std::string& name) { return is_leftover(name); }));
}

std::uint64_t Broker::Impl::count_dead_names(const KnownTopics& known) const {
    std::uint64_t count = 0;
    for (const std::string& name : names_to_sweep(topics_path(directory_))) {
        try {
            if (is_topic_name(name) && !(known && known(name)) && state_of_name(topic_path(name)) == NameState::dead)
                ++count;
        } catch (const Error&) {
            // it cannot be looked at, so nobody knows that it is dead
        }
    }
    return count;
}

std::uint64_t Broker::Impl::sweep_dead_names(const KnownTopics& known, std::uint64_t& files_left) {
    std::uint64_t swept = 0;
    for (const std::string& name : names_to_sweep(topics_path(directory_))) {
        if (files_left == 0)
            break;
        try {
            if (!is_topic_name(name) || (known && known(name)) || state_of_name(topic_path(name)) != NameState::dead)
                continue;
            if (bury(directory_, name, work_path(trash_path(directory_)), std::chrono::milliseconds(0), files_left) &&
                files_left != 0)  // else the sweep that finds it in the trash counts it
                ++swept;
        } catch (const Error&) {
            // another user's topic, or a full client table: it stays dead, and somebody else sweeps it
        }
    }
    return swept;
}

}  // namespace ringmain
