// Retention of one partition as a keeper runs it: limits from the topic, events for the listener, times on the keeper's clock.
#pragma once

#include <cstdint>
#include <string>

#include "keeper_step.hpp"
#include "partition_log/log_memory.hpp"
#include "platform/memory.hpp"
#include "retention/retention.hpp"
#include "topic_files.hpp"

namespace ringmain {

/// Not thread-safe.
class RetentionKeeper {
public:
    /// `topic` must outlive it.
    RetentionKeeper(const TopicFiles& topic, std::uint32_t partition, const partition_log::LogMemory<platform::HostMemory>& log);

    /// Deletes what the topic's limits do not keep, and says when it has to look again although nothing changes; looks at
    /// retention::kCellsPerStep cells at most.
    void step(KeeperStep& step);

private:
    void tell_of(const KeeperStep& step, const retention::Expired& done);

    const TopicFiles* topic_;
    std::uint32_t partition_;
    partition_log::LogMemory<platform::HostMemory> log_;
    retention::PartitionRetention<platform::HostMemory> retention_;
    std::string told_holder_;  // that held records at the last step, and was told of
};

}  // namespace ringmain
