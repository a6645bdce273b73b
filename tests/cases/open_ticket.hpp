// A process that reserves an offset through the production code and never commits it: killed or stopped by its test.
#pragma once

#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "partition_log/tickets.hpp"
#include "ringmain/ringmain.hpp"
#include "support/child.hpp"
#include "topic_files.hpp"

namespace ringmain::test {

/// The log of a partition, mapped beside the public classes.
class MappedLog {
public:
    using Memory = partition_log::LogMemory<platform::HostMemory>;

    MappedLog(const std::filesystem::path& broker, const std::string& topic, std::uint32_t partition = 0)
        : files_(broker / "topics" / topic, topic),
          mapping_(files_.map_partition(partition, platform::Access::read_write)),
          log(mapping_.data(), geometry_of(mapping_), files_.readers(partition)) {}

private:
    TopicFiles files_;
    platform::Mapping mapping_;

public:
    Memory log;
};

/// Attaches as a producer, takes `tickets` tickets one after the other, and then does nothing. Runs in a child.
inline int take_tickets_and_stay(const std::filesystem::path& directory, const std::string& topic, int tickets) {
    const MappedLog mapped(directory, topic);
    const auto owners = [&] {
        std::vector<std::uint64_t> words;
        for (std::uint32_t i = 0; i < mapped.log.producer_slots; ++i) {
            words.push_back(mapped.log.producers[i].owner.load(std::memory_order_acquire));
        }
        return words;
    };
    const std::vector<std::uint64_t> before = owners();
    const Broker broker(directory);
    Producer producer(broker, topic);
    producer.attach(0);
    const std::vector<std::uint64_t> after = owners();
    std::uint32_t slot = 0;
    while (slot < after.size() && after[slot] == before[slot])
        ++slot;
    partition_log::Tickets<platform::HostMemory> holder(mapped.log, slot);
    for (int i = 0; i < tickets; ++i)
        (void)holder.take();
    for (;;)
        ::pause();
}

/// Returns when the log end of the partition has reached `end`. False after ten seconds.
inline bool wait_for_end(const MappedLog& mapped, std::uint64_t end) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (mapped.log.control->log_end.load(std::memory_order_acquire) < end) {
        if (std::chrono::steady_clock::now() > deadline)
            return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
}

}  // namespace ringmain::test
