// One topic in a scratch broker for benchmarks within one process.
#pragma once

#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>
#include <vector>

#include "bench/contestants/library_link.hpp"

namespace ringmain::bench {

inline ScratchBroker& scratch_broker() {
    static ScratchBroker scratch;
    return scratch;
}

/// A topic for the life of one benchmark run.
class TopicFixture {
public:
    explicit TopicFixture(const TopicOptions& options = {}) { scratch_broker().broker().create_topic(kName, options); }
    ~TopicFixture() { scratch_broker().broker().delete_topic(kName); }
    TopicFixture(const TopicFixture&) = delete;
    TopicFixture& operator=(const TopicFixture&) = delete;

    [[nodiscard]] Producer producer(const ProducerOptions& options = {}) const {
        Producer producer(scratch_broker().broker(), kName, options);
        producer.attach(0);
        return producer;
    }
    [[nodiscard]] Consumer consumer() const {
        Consumer consumer(scratch_broker().broker());
        consumer.assign(kName);
        return consumer;
    }

    /// Fills the log with `records` values of `bytes` bytes whose timestamps are 1, 2, 3, ...
    void fill(std::uint64_t records, std::size_t bytes) const {
        Producer producer = this->producer();
        const std::vector<std::byte> value(bytes);
        ProducerRecord record;
        record.value = value;
        for (std::uint64_t i = 0; i < records; ++i) {
            record.timestamp_ns = static_cast<std::int64_t>(i + 1);
            require_ok(producer.publish(record).status);
        }
    }

    static constexpr const char* kName = "primitive";
};

}  // namespace ringmain::bench
