// What producers, consumers and keepers share of an open broker directory.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client_table/client_table.hpp"
#include "platform/fork_guard.hpp"
#include "ringmain/broker.hpp"
#include "topic_files.hpp"

namespace ringmain {

class Broker::Impl {
public:
    Impl(std::filesystem::path directory, Mode mode);

    [[nodiscard]] const std::filesystem::path& directory() const noexcept { return directory_; }
    [[nodiscard]] bool is_new() const noexcept { return is_new_; }
    /// A keeper of this object holds the directory's lock: there is no daemon to ask but this process.
    [[nodiscard]] bool is_kept_here() const noexcept { return keepers_.load(std::memory_order_relaxed) > 0; }
    class Keeping;
    [[nodiscard]] const platform::ForkGuard& fork_guard() const noexcept { return fork_guard_; }

    /// Throws Error not_found (naming the path), version_mismatch, corrupt, permission_denied, invalid_argument (name),
    /// forked.
    [[nodiscard]] std::shared_ptr<const TopicFiles> open_topic(std::string_view name) const;

    /// This process's identity in the directory; registers it at the first call. Throws Error: limit,
    /// permission_denied, forked.
    layout::ClientId client();
    [[nodiscard]] const client_table::ClientTable& clients() const noexcept { return clients_; }
    /// A name that nobody else gives, and that says who is at work, so that others can tell when it names a leftover.
    /// Throws Error as client().
    [[nodiscard]] std::string work_name();

    // These do it here, whether a daemon listens or not.

    /// Returns false if the name is taken. Other failures as Broker::create_topic. Without an id it gets a random one.
    bool try_create_topic(std::string_view name, const TopicOptions& options, const std::function<bool()>& stop = {},
                          const std::optional<TopicId>& id = {});
    /// With an id: only the topic that has it; throws Error mismatch if another one has the name.
    void delete_topic(std::string_view name, const std::optional<TopicId>& id = {});
    /// Topics that the caller has open and knows to live: no file of theirs is looked at.
    using KnownTopics = std::function<bool(const std::string& name)>;

    /// Throws Error: permission_denied, io, forked. Known topics are left out.
    [[nodiscard]] std::vector<std::string> list_topics(const KnownTopics& known = {}) const;

    /// Removes what killed creations and deletions left (their maker is proven dead), and moves deleted topics that
    /// still have a name out of the way. Any process may, at any time. Returns how many directories and files were
    /// dealt with. Ends when `files_left` files were removed: a further call goes on from there.
    std::uint64_t sweep_leftovers(const KnownTopics& known = {}) {
        std::uint64_t files_left = kAllFiles;
        return sweep_leftovers(known, files_left);
    }
    std::uint64_t sweep_leftovers(const KnownTopics& known, std::uint64_t& files_left);

    /// What sweep_leftovers would deal with. Looks only.
    struct Leftovers {
        std::uint64_t work_directories = 0;
        std::uint64_t half_made_files = 0;
        std::uint64_t dead_names = 0;
    };
    [[nodiscard]] Leftovers count_leftovers(const KnownTopics& known = {}) const;

    /// Throws Error forked in a child that inherited this object.
    void check_not_forked() const;

private:
    [[nodiscard]] std::filesystem::path topic_path(std::string_view name) const;
    [[nodiscard]] std::filesystem::path work_path(const std::filesystem::path& parent) { return parent / work_name(); }
    [[nodiscard]] bool is_leftover(std::string_view name) const noexcept;
    [[nodiscard]] bool name_is_free(std::string_view name);
    static constexpr std::uint64_t kAllFiles = ~std::uint64_t{0};
    std::uint64_t sweep_work(const std::filesystem::path& parent, bool own_too, std::uint64_t& files_left);
    [[nodiscard]] bool is_mine(layout::ClientId maker) noexcept;
    [[nodiscard]] std::uint64_t count_work(const std::filesystem::path& parent) const;
    [[nodiscard]] std::uint64_t count_dead_names(const KnownTopics& known) const;
    std::uint64_t sweep_dead_names(const KnownTopics& known, std::uint64_t& files_left);

    std::filesystem::path directory_;
    bool is_new_ = false;
    platform::ForkGuard fork_guard_;
    std::mutex mutex_;  // guards attaching
    client_table::ClientTable clients_;
    std::atomic<std::uint64_t> work_counter_{0};
    std::atomic<int> keepers_{0};  // relaxed: it orders nothing
};

/// Held by a keeper as long as it has the lock.
class Broker::Impl::Keeping {
public:
    // relaxed: see is_kept_here
    explicit Keeping(Impl& broker) noexcept : broker_(broker) { broker_.keepers_.fetch_add(1, std::memory_order_relaxed); }
    Keeping(const Keeping&) = delete;
    Keeping& operator=(const Keeping&) = delete;
    ~Keeping() { broker_.keepers_.fetch_sub(1, std::memory_order_relaxed); }

private:
    Impl& broker_;
};

}  // namespace ringmain
