// Producers and consumers of trivially copyable structs; name and size of the type are checked at attach.
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "ringmain/consumer.hpp"
#include "ringmain/error.hpp"
#include "ringmain/producer.hpp"

namespace ringmain {

/// A record type: trivially copyable, with a stable name of its own:
///   struct Trade { static constexpr std::string_view kRecordName = "acme.Trade"; ... };
template <class T>
concept RecordType = std::is_trivially_copyable_v<T> && requires {
    { T::kRecordName } -> std::convertible_to<std::string_view>;
};

/// The value type to put into TopicOptions.
template <RecordType T>
ValueType value_type() {
    return {std::string(std::string_view(T::kRecordName)), sizeof(T), alignof(T)};
}

/// Throws Error mismatch, naming both types, unless the topic carries T.
RINGMAIN_API void check_value_type(const Broker& broker, std::string_view topic, const ValueType& wanted);

/// As Producer, for values of one type; also in what may be done with a moved-from one.
template <RecordType T>
class TypedProducer {
public:
    TypedProducer(const Broker& broker, std::string_view topic, const ProducerOptions& options = {})
        : producer_((check_value_type(broker, topic, value_type<T>()), broker), topic, options) {}

    PublishResult publish(const T& value, ProducerRecord record = {}) noexcept {
        record.value = std::as_bytes(std::span(&value, 1));
        return producer_.publish(record);
    }
    PublishResult try_publish(const T& value, ProducerRecord record = {}) noexcept {
        record.value = std::as_bytes(std::span(&value, 1));
        return producer_.try_publish(record);
    }
    [[nodiscard]] Producer& untyped() noexcept { return producer_; }

private:
    Producer producer_;
};

/// As Consumer, for topics whose values are of one type; also in what may be done with a moved-from one.
template <RecordType T>
class TypedConsumer {
public:
    explicit TypedConsumer(const Broker& broker, const ConsumerOptions& options = {}) : broker_(broker), consumer_(broker, options) {}

    void assign(std::string_view topic, Position from = Position::earliest()) {
        check_value_type(broker_, topic, value_type<T>());
        consumer_.assign(topic, from);
    }
    void assign(std::string_view topic, std::uint32_t partition, Position from = Position::earliest()) {
        check_value_type(broker_, topic, value_type<T>());
        consumer_.assign(topic, partition, from);
    }

    /// Calls `handler(const T&, const ConsumerRecord&)` for each record. A record whose value is null or not of T's size
    /// (an untyped producer can write one) is not shown to the handler but counted; the result's `records` has it.
    template <class Handler>
    PollResult poll(Handler&& handler, std::size_t max_records = 256, std::chrono::nanoseconds timeout = std::chrono::nanoseconds::zero()) {
        const PollResult result = consumer_.poll(max_records, timeout);
        for (const ConsumerRecord& record : result.records) {
            if (!record.value || record.value->size() != sizeof(T)) {
                ++mismatched_;
                continue;
            }
            T value;
            std::memcpy(&value, record.value->data(), sizeof(T));
            handler(std::as_const(value), record);
        }
        return result;
    }
    /// Records so far that were no T.
    [[nodiscard]] std::uint64_t mismatched() const noexcept { return mismatched_; }
    [[nodiscard]] Consumer& untyped() noexcept { return consumer_; }

private:
    Broker broker_;
    Consumer consumer_;
    std::uint64_t mismatched_ = 0;
};

}  // namespace ringmain
