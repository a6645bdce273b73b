// The log as a contestant, used through its public classes as a user would use it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/common/payload.hpp"
#include "bench/common/scratch.hpp"
#include "ringmain/ringmain.hpp"

namespace ringmain::bench {

inline void require_ok(Status status) {
    if (status != Status::ok)
        throw std::runtime_error("the log answered " + std::string(to_string(status)));
}

/// How records are read: copies by poll, or in place by visit.
enum class Read : std::uint8_t { poll, visit };
/// How records are published: copied, in batches of 16, or filled in memory lent by the log.
enum class Send : std::uint8_t { copy, batch, loan };
/// Where timestamps come from.
enum class Stamp : std::uint8_t { caller, coarse_clock };

struct LibraryOptions {
    TopicOptions topic;
    bool exclusive = false;
    Stamp stamp = Stamp::caller;
};

inline constexpr std::size_t kBatchRecords = 16;

template <std::size_t kBytes, Send kSend>
class LibrarySender {
public:
    LibrarySender(const std::filesystem::path& directory, const std::string& topic, const LibraryOptions& options)
        : producer_(Broker(directory), topic, {.exclusive = options.exclusive}), buffers_(kBuffers) {
        producer_.attach(0);
        for (Buffer& buffer : buffers_) {
            ProducerRecord record;
            record.value = Bytes(buffer.bytes, kBytes);
            record.partition = 0;
            if (options.stamp == Stamp::caller)
                record.timestamp_ns = 1;
            records_.push_back(record);
        }
    }

    void send(std::uint64_t sequence) {
        if constexpr (kSend == Send::loan) {
            Loan loan = producer_.loan(kBytes, records_[0]);
            while (loan.status() == Status::would_block)
                loan = producer_.loan(kBytes, records_[0]);
            require_ok(loan.status());
            Payload<kBytes>::write(loan.value().data(), sequence);
            require_ok(producer_.publish(loan).status);
        } else if constexpr (kSend == Send::copy) {
            Payload<kBytes>::write(buffers_[0].bytes, sequence);
            require_ok(producer_.publish(records_[0]).status);
        } else {
            Payload<kBytes>::write(buffers_[filled_++].bytes, sequence);
            if (filled_ == kBatchRecords)
                flush();
        }
    }

    /// Publishes what a batch still holds.
    void flush() {
        if (filled_ > 0)
            require_ok(producer_.publish_batch(std::span(records_).first(filled_)).status);
        filled_ = 0;
    }

    [[nodiscard]] Producer& producer() noexcept { return producer_; }

private:
    static constexpr std::size_t kBuffers = kSend == Send::batch ? kBatchRecords : 1;
    struct Buffer {
        alignas(64) std::byte bytes[kBytes];
    };

    Producer producer_;
    std::vector<Buffer> buffers_;
    std::vector<ProducerRecord> records_;
    std::size_t filled_ = 0;
};

template <Read kRead>
class LibraryReceiver {
public:
    LibraryReceiver(const std::filesystem::path& directory, const std::string& topic, const LibraryOptions& options,
                    std::size_t record_bytes)
        : consumer_(Broker(directory), {.wait = WaitStrategy::spin}),
          gated_(options.topic.when_full == WhenFull::block),
          gate_step_(gate_step(options.topic, record_bytes)) {
        consumer_.assign(topic, 0);
        if (gated_)
            consumer_.hold_gates("bench");
    }

    template <class Sink>
    std::uint64_t drain(std::uint64_t max, Sink&& sink) {
        const std::uint64_t taken = kRead == Read::poll ? poll(max, sink) : visit(max, sink);
        since_gate_ += taken;
        if (gated_ && (since_gate_ >= gate_step_ || (taken == 0 && since_gate_ > 0))) {
            consumer_.move_gates();
            since_gate_ = 0;
        }
        return taken;
    }
    [[nodiscard]] std::uint64_t lost() const noexcept { return lost_; }

private:
    /// A small part of what the topic holds, in cells or in payload memory, so that the sender is not held up by
    /// records that were read long ago.
    static std::uint64_t gate_step(const TopicOptions& topic, std::size_t record_bytes) {
        constexpr std::uint64_t kPart = 64;
        std::uint64_t held = topic.records;
        if (topic.payload_bytes != 0)
            held = std::min<std::uint64_t>(held, topic.payload_bytes / record_bytes);
        return std::max<std::uint64_t>(1, held / kPart);
    }

    template <class Sink>
    std::uint64_t poll(std::uint64_t max, Sink& sink) {
        const PollResult result = consumer_.poll(max);
        require_ok(result.status);
        for (const Gap& gap : result.gaps)
            lost_ += gap.count();
        for (const ConsumerRecord& record : result.records)
            sink(record.value->data(), record.value->size());
        return result.records.size();
    }

    template <class Sink>
    std::uint64_t visit(std::uint64_t max, Sink& sink) {
        auto handler = [&sink](const ConsumerRecord& record) { sink(record.value->data(), record.value->size()); };
        for (std::uint64_t taken = 0; taken < max; ++taken) {
            const VisitStatus status = consumer_.visit(handler);
            if (status == VisitStatus::valid)
                continue;
            if (status == VisitStatus::empty)
                return taken;
            throw std::runtime_error("visit was lapped or stopped, which a gated reader is not");
        }
        return max;
    }

    Consumer consumer_;
    bool gated_;
    std::uint64_t gate_step_;
    std::uint64_t since_gate_ = 0;
    std::uint64_t lost_ = 0;
};

/// One topic in a broker directory; created by the parent, deleted with the link. Each side opens the directory by
/// itself.
template <std::size_t kBytes, Read kRead, Send kSend = Send::copy>
class LibraryLink {
public:
    LibraryLink(Broker& broker, std::string topic, const LibraryOptions& options)
        : broker_(broker), topic_(std::move(topic)), options_(options) {
        broker_.create_topic(topic_, options_.topic);
    }
    ~LibraryLink() { broker_.delete_topic(topic_); }
    LibraryLink(const LibraryLink&) = delete;
    LibraryLink& operator=(const LibraryLink&) = delete;

    LibrarySender<kBytes, kSend> sender(unsigned) { return {broker_.directory(), topic_, options_}; }
    LibraryReceiver<kRead> receiver() { return {broker_.directory(), topic_, options_, kBytes}; }

private:
    Broker& broker_;
    std::string topic_;
    LibraryOptions options_;
};

/// A scratch directory with a broker in it, for the life of a benchmark program.
class ScratchBroker {
public:
    ScratchBroker() : broker_(directory_.broker(), Broker::Mode::open_or_create) {}
    [[nodiscard]] Broker& broker() noexcept { return broker_; }

private:
    ScratchDirectory directory_;
    Broker broker_;
};

}  // namespace ringmain::bench
