// All topics that a keeper looks after: taken up when they appear, let go when they are deleted or their files change.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>

#include "broker_impl.hpp"
#include "keeper_step.hpp"
#include "kept_topic.hpp"
#include "topic_farewells.hpp"
#include "platform/directory_watch.hpp"
#include "ringmain/error.hpp"

namespace ringmain {

/// A topic is looked after from its taking up until it is deleted, or one of the files that all of it needs is damaged or not the one at its
/// path any more; then nothing of it stays mapped, and what is at its path is taken up as if it were new. Of a partition's file that
/// holds for the partition alone. Not thread-safe.
class KeptTopics {
public:
    /// `watch` says when to look at names; where it watches nothing, they are looked at several times a second.
    KeptTopics(std::shared_ptr<Broker::Impl> broker, platform::DirectoryWatch watch);

    /// Listens to what changed since the last call. True: names in the broker's own directory did.
    bool listen();
    /// One step of all topics. Takes up, and lets go, a few at a time, so that the others are served meanwhile.
    void step(KeeperStep& step);

    /// Readable when there is something to listen to; -1: never.
    [[nodiscard]] int descriptor() const noexcept { return watch_.descriptor(); }
    [[nodiscard]] std::size_t size() const noexcept { return topics_.size(); }
    [[nodiscard]] std::size_t partitions() const noexcept { return partitions_; }
    [[nodiscard]] std::size_t unreadable() const noexcept { return unreadable_.size(); }
    [[nodiscard]] std::size_t unreadable_partitions() const noexcept { return unreadable_partitions_; }

private:
    struct Entry {
        KeptTopic topic;
        std::optional<int> watched;  // its number; nothing: its directory is looked at in turn
        bool told = false;           // that it is looked after
    };
    struct Unreadable {
        std::string reason;
        std::int64_t tried_ns = 0;
        std::int64_t pause_ns = 0;
    };
    using Topics = std::map<std::string, Entry, std::less<>>;

    void hear(const platform::DirectoryWatch::Changes& changes);
    void let_go_of_deleted(KeeperStep& step);
    void let_go_of_damaged(KeeperStep& step);
    void step_all(KeeperStep& step);
    void tell_found(const std::string& name, Entry& entry, KeeperStep& step);
    void look_at_files(KeeperStep& step);
    void look_at_file_of(const std::string& name, KeeperStep& step);
    void look_in_turn(KeeperStep& step);
    [[nodiscard]] bool names_are_due(const KeeperStep& step) const;
    void find_names(KeeperStep& step);
    void forget_unreadable(const std::set<std::string>& there, KeeperStep& step);
    void take_up_some(KeeperStep& step);
    void take_up(const std::string& name, KeeperStep& step);
    void note_unreadable(const std::string& name, const std::string& reason, KeeperStep& step);
    void note_failure(const std::string& name, const Error& error, KeeperStep& step);
    void watch_broker() noexcept;
    std::optional<int> watch(const std::string& name);
    void unwatch(int number);
    Topics::iterator let_go(Topics::iterator one);
    void sweep(KeeperStep& step);

    std::shared_ptr<Broker::Impl> broker_;
    platform::DirectoryWatch watch_;
    bool missed_ = false;  // changes were told and forgotten
    std::optional<int> directory_watched_;
    std::optional<int> names_watched_;
    std::unordered_map<int, std::string> watched_;  // topics by the number of their directory

    Topics topics_;
    TopicFarewells farewells_;
    std::size_t partitions_ = 0;
    std::size_t unreadable_partitions_ = 0;
    std::map<std::string, Unreadable, std::less<>> unreadable_;
    std::set<std::string> waiting_;  // to be taken up
    std::set<std::string> told_;     // something changed in their directories
    std::string next_in_turn_;
    bool names_told_ = true;
    std::optional<std::int64_t> named_ns_;
    std::optional<std::int64_t> turned_ns_;
    std::optional<std::int64_t> swept_ns_;
    std::uint64_t swept_deaths_ = 0;
};

}  // namespace ringmain
