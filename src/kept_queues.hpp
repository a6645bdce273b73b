// The queues of a topic that a keeper looks after, and the files that queues and resets left behind.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "keeper_step.hpp"
#include "kept_queue.hpp"
#include "topic_files.hpp"

namespace ringmain {

/// Not thread-safe.
class KeptQueues {
public:
    KeptQueues(std::shared_ptr<const TopicFiles> topic, std::shared_ptr<const KeptQueue::Logs> logs)
        : topic_(std::move(topic)), logs_(std::move(logs)) {}

    void step(KeeperStep& step);

private:
    [[nodiscard]] std::uint64_t epochs() const noexcept;
    void find_queues(KeeperStep& step);
    void sweep(KeeperStep& step) const;

    std::shared_ptr<const TopicFiles> topic_;
    std::shared_ptr<const KeptQueue::Logs> logs_;
    std::map<std::uint32_t, KeptQueue> queues_;  // by the group's slot
    std::optional<std::uint64_t> seen_epochs_;
    std::uint64_t seen_deaths_ = 0;
    std::optional<std::int64_t> failed_ns_;
};

}  // namespace ringmain
