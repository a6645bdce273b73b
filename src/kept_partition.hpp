// A partition of a topic that a keeper looks after, or cannot.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "keeper_step.hpp"
#include "partition_keeper.hpp"
#include "ringmain/error.hpp"
#include "topic_files.hpp"

namespace ringmain {

/// Damage, and missing rights, concern one partition alone: it is told when nobody looks after it, looked at again now
/// and then, and told when somebody does. Handles of a partition without a sound file are told too. Not thread-safe.
class KeptPartition {
public:
    /// `topic` must outlive it. Nothing is opened yet.
    KeptPartition(const TopicFiles& topic, std::uint32_t partition) noexcept : topic_(&topic), partition_(partition) {}

    /// Opens the file if it is time to, and the step may still open one.
    void open(KeeperStep& step);
    /// The housekeeping of the partition, if it is open.
    void step(KeeperStep& step, bool age_limited);
    /// Looks whether the path still names the file that is open, and whether that is whole.
    void look_at_file(KeeperStep& step);

    /// Nothing while nobody looks after it; valid until the next step. Another one each time that it was `opened`.
    [[nodiscard]] const partition_log::LogMemory<platform::HostMemory>* log() const noexcept {
        return keeper_ ? &keeper_->log() : nullptr;
    }
    [[nodiscard]] std::uint64_t opened() const noexcept { return opened_; }
    [[nodiscard]] bool tried() const noexcept { return tried_ns_.has_value(); }
    /// Somebody looks after it.
    [[nodiscard]] bool kept() const noexcept { return keeper_ != nullptr && trouble_.empty(); }

private:
    void close(KeeperStep& step);
    void note_trouble(const std::string& why, KeeperStep& step);
    void note_failure(const Error& error, KeeperStep& step);
    void note_control(KeeperStep& step);
    void note_recovery(KeeperStep& step);

    const TopicFiles* topic_;
    std::uint32_t partition_;
    std::unique_ptr<PartitionKeeper> keeper_;
    std::uint64_t opened_ = 0;  // how often
    std::string trouble_;       // what was told; empty: there is none
    bool contradicts_ = false;
    std::optional<std::int64_t> tried_ns_;
    std::int64_t pause_ns_ = 0;
};

}  // namespace ringmain
