// A producer: bursts of single records, batches and loans of all sizes, named or not.
#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "life.hpp"
#include "ringmain/producer.hpp"
#include "stamped_value.hpp"

namespace ringmain::nemesis {

namespace {

using Kind = Event::Kind;

constexpr std::uint32_t kNamed = 2;  // the first so many producers have names
constexpr std::size_t kBatchMax = 12;
constexpr std::size_t kLargeMax = 6'000;

class ProducerLife : Life {
public:
    explicit ProducerLife(const Job& job) : Life(job), named_(job.index < kNamed) {}

    int live() {
        while (!is_set(control().stop_producing) && !is_over()) {
            burst();
            pause(std::chrono::microseconds(2'000 + below(18'000)));
        }
        return 0;
    }

private:
    struct Outgoing {
        std::uint64_t id = 0;
        std::vector<std::byte> value;
        std::array<std::byte, 8> key{};
        std::uint64_t stamp = 0;
    };

    void burst() {
        for (std::uint32_t n = 1 + below(16); n > 0; --n) {
            const auto topic = static_cast<std::uint8_t>(below(kPublished));
            Producer* const producer = open(topic);
            if (producer == nullptr)
                return;
            const auto partition = static_cast<std::uint8_t>(below(producer->partitions()));
            if (named_ && !resume(*producer, topic, partition))
                continue;
            switch (below(6)) {
                case 0:
                    publish_batch(*producer, topic, partition);
                    break;
                case 1:
                    publish_loan(*producer, topic, partition);
                    break;
                default:
                    publish_one(*producer, topic, partition);
                    break;
            }
        }
    }

    /// Slots of the dead come back in time.
    Producer* open(std::uint8_t topic) {
        if (!producers_[topic]) {
            ProducerOptions options;
            if (named_)
                options.name = "producer-" + std::to_string(job_.index);
            try {
                producers_[topic].emplace(broker_, kTopicNames[topic], options);
            } catch (const Error& error) {
                if (error.code() != ErrorCode::busy && error.code() != ErrorCode::limit)
                    throw;
                return nullptr;
            }
        }
        return &*producers_[topic];
    }

    bool resume(Producer& producer, std::uint8_t topic, std::uint8_t partition) {
        if (next_[topic][partition] != 0)
            return true;
        try {
            const std::uint64_t last = producer.last_sequence(partition);
            note({.kind = Kind::resumed, .topic = topic, .partition = partition, .offset = last});
            next_[topic][partition] = last + 1;
            return true;
        } catch (const Error& error) {
            if (error.code() != ErrorCode::busy && error.code() != ErrorCode::limit)
                throw;
            return false;
        }
    }

    [[nodiscard]] std::size_t some_bytes() {
        return kValueBytesMin + (one_of(6) ? below(kLargeMax) : below(one_of(2) ? 8 : 64));
    }

    /// A new record, and its call noted.
    Outgoing begin(std::uint8_t topic, std::uint8_t partition, std::size_t bytes) {
        Outgoing one;
        one.id = make_id(journal_.life(), ++sequence_);
        one.value.resize(bytes);
        stamp_value(one.value, one.id);
        std::memcpy(one.key.data(), &one.id, sizeof one.id);
        if (named_)
            one.stamp = next_[topic][partition]++;
        note({.kind = Kind::invoked,
              .topic = topic,
              .partition = partition,
              .aux = static_cast<std::uint32_t>(one.stamp),
              .id = one.id});
        return one;
    }

    [[nodiscard]] static ProducerRecord record_of(const Outgoing& one, std::uint8_t partition) {
        ProducerRecord record;
        record.value = one.value;
        if (one.id % 2 == 0)
            record.key = one.key;
        record.partition = partition;
        record.sequence = one.stamp;
        return record;
    }

    void end(std::uint64_t id, std::uint8_t topic, const PublishResult& result) {
        switch (result.status) {
            case Status::ok:
                return note({.kind = Kind::acknowledged,
                             .topic = topic,
                             .partition = static_cast<std::uint8_t>(result.partition),
                             .id = id,
                             .offset = result.offset});
            case Status::would_block:
            case Status::exhausted:
            case Status::cannot_attach:
            case Status::not_attempted:
                return note({.kind = Kind::refused,
                             .topic = topic,
                             .extra = static_cast<std::uint8_t>(result.status),
                             .id = id});
            default:
                return fail(100 + static_cast<std::uint32_t>(result.status), topic);
        }
    }

    void publish_one(Producer& producer, std::uint8_t topic, std::uint8_t partition) {
        const Outgoing one = begin(topic, partition, some_bytes());
        if (job_.canary == Canary::producer_lies && last_offset_ != 0 && one_of(50))
            return end(one.id, topic, {Status::ok, partition, last_offset_ + 1'000'000});
        const PublishResult result = inside([&] { return producer.try_publish(record_of(one, partition)); });
        last_offset_ = result.offset;
        end(one.id, topic, result);
    }

    void publish_batch(Producer& producer, std::uint8_t topic, std::uint8_t partition) {
        std::vector<Outgoing> all;
        for (std::size_t n = 2 + below(kBatchMax - 1); n > 0; --n)
            all.push_back(begin(topic, partition, some_bytes()));
        std::vector<ProducerRecord> records;
        for (const Outgoing& one : all)
            records.push_back(record_of(one, partition));
        std::vector<PublishResult> results(records.size());
        const BatchResult batch = inside([&] { return producer.try_publish_batch(records, results); });
        std::size_t published = 0;
        for (std::size_t i = 0; i < all.size(); ++i) {
            end(all[i].id, topic, results[i]);
            published += results[i].status == Status::ok ? 1 : 0;
        }
        if (published != batch.published)
            fail(1, topic, partition, published);
    }

    void publish_loan(Producer& producer, std::uint8_t topic, std::uint8_t partition) {
        const Outgoing one = begin(topic, partition, some_bytes());
        Loan loan = inside([&] { return producer.loan(one.value.size(), record_of(one, partition)); });
        if (loan.status() != Status::ok)
            return end(one.id, topic, {loan.status(), partition, 0});
        std::memcpy(loan.value().data(), one.value.data(), one.value.size());
        end(one.id, topic,
            one_of(8) ? PublishResult{Status::not_attempted} : inside([&] { return producer.try_publish(loan); }));
    }

    bool named_;
    std::uint64_t sequence_ = 0;
    std::uint64_t last_offset_ = 0;
    std::array<std::optional<Producer>, kPublished> producers_;
    std::array<std::array<std::uint64_t, 8>, kPublished> next_{};  // sequences, by topic and partition
};

}  // namespace

int live_as_producer(const Job& job) { return ProducerLife(job).live(); }

}  // namespace ringmain::nemesis
