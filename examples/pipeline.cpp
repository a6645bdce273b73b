// Effectively once: consume, transform, produce, and after kill -9 go on exactly where the log says.
//
// Two named producers: "orders-feed" makes the orders, "invoicing" turns each into an invoice. The sequence of an invoice is the
// offset of its order + 1, so the stage's position is nothing but the last sequence of its own name in its own output. Kill this
// program as often as you like and start it again: the last run finds every invoice once, in order.
#include <ringmain/ringmain.hpp>

#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>

namespace {

using namespace std::chrono_literals;

bool publish_number(ringmain::Producer& producer, std::uint64_t number, std::uint64_t sequence) {
    const std::string text = std::to_string(number);
    const auto result = producer.publish({.value = ringmain::as_bytes(text), .sequence = sequence});
    if (result.status == ringmain::Status::ok)
        return true;
    std::cerr << producer.topic() << ": " << to_string(result.status) << '\n';
    return false;
}

std::uint64_t number_of(const ringmain::ConsumerRecord& record) {
    const std::string_view text = ringmain::text_or(record.value, "");
    std::uint64_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

bool feed(const ringmain::Broker& broker, std::uint64_t orders) {
    ringmain::Producer producer(broker, "orders", {.name = "orders-feed"});
    for (std::uint64_t order = producer.last_sequence() + 1; order <= orders; ++order) {
        if (!publish_number(producer, order, order))
            return false;
    }
    return true;
}

bool invoice(const ringmain::Broker& broker) {
    ringmain::Producer producer(broker, "invoices", {.name = "invoicing"});
    ringmain::Consumer consumer(broker);
    consumer.assign("orders", ringmain::Position::at(producer.last_sequence()));
    for (;;) {
        const auto [status, records, gaps, failures] = consumer.poll(256, 50ms);
        if (status != ringmain::Status::ok || !gaps.empty())
            return false;  // orders were lost to retention: that is not to be passed over in silence
        for (const auto& order : records) {
            if (!publish_number(producer, 3 * number_of(order), order.offset + 1))
                return false;
        }
        if (records.empty())
            return true;  // a real stage would go on waiting
    }
}

bool each_once(const ringmain::Broker& broker, std::uint64_t orders) {
    ringmain::Consumer consumer(broker);
    consumer.assign("invoices");
    std::uint64_t seen = 0;
    for (;;) {
        // not poll(): a ticket that a killed run left open holds a reader up for its patience, some microseconds
        const auto [status, records, gaps, failures] = consumer.poll(256, 50ms);
        if (records.empty())
            return status == ringmain::Status::ok && gaps.empty() && seen == orders;
        for (const auto& record : records) {
            if (number_of(record) != 3 * ++seen || record.stamp()->producer != ringmain::producer_id("invoicing"))
                return false;
        }
    }
}

}  // namespace

int main(int argc, char** argv) {
    const std::uint64_t orders = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 50'000;
    try {
        ringmain::Broker broker(ringmain::default_broker_directory(), ringmain::Broker::Mode::open_or_create);
        for (const char* topic : {"orders", "invoices"})
            broker.ensure_topic(topic, {.records = 1 << 17, .payload_bytes = 0});
        if (!feed(broker, orders) || !invoice(broker))
            return 1;
        const bool good = each_once(broker, orders);
        std::cout << "invoices " << orders << ", each once and in order: " << (good ? "yes" : "no") << '\n';
        return good ? 0 : 1;
    } catch (const ringmain::Error& error) {
        std::cerr << error.what() << '\n';
        return 1;
    }
}
