// The producer of the README: ten prices under one key.
#include <ringmain/ringmain.hpp>

#include <iostream>
#include <string>

int main() {
    ringmain::Broker broker(ringmain::default_broker_directory(), ringmain::Broker::Mode::open_or_create);
    broker.ensure_topic("prices", {.partitions = 3});
    ringmain::Producer producer(broker, "prices");
    for (int price = 100; price < 110; ++price) {
        const std::string text = std::to_string(price);
        const auto result = producer.publish({.value = ringmain::as_bytes(text), .key = ringmain::as_bytes("ACME")});
        if (result.status != ringmain::Status::ok)
            return 1;
        std::cout << "partition " << result.partition << ", offset " << result.offset << ": " << text << '\n';
    }
}
