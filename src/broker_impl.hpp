// What producers, consumers and keepers share of an open broker directory.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
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
    [[nodiscard]] const platform::ForkGuard& fork_guard() const noexcept { return fork_guard_; }

    /// Throws Error not_found (naming the path), version_mismatch, corrupt, permission_denied, invalid_argument (name), forked.
    [[nodiscard]] std::shared_ptr<const TopicFiles> open_topic(std::string_view name) const;

    /// This process's identity in the directory; registers it at the first call. Throws Error: limit, permission_denied, forked.
    layout::ClientId client();
    [[nodiscard]] const client_table::ClientTable& clients() const noexcept { return clients_; }

    TopicDescription create_topic(std::string_view name, const TopicOptions& options);
    TopicDescription ensure_topic(std::string_view name, const TopicOptions& options);
    void delete_topic(std::string_view name);
    [[nodiscard]] std::vector<std::string> list_topics() const;

    /// Removes or restores what killed creations and deletions left (their maker is proven dead). Any process may, at any
    /// time. Returns how many directories were dealt with.
    std::uint64_t sweep_leftovers();

private:
    std::filesystem::path directory_;
    platform::ForkGuard fork_guard_;
    mutable std::mutex mutex_;
    client_table::ClientTable clients_;
};

}  // namespace ringmain
