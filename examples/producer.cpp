// The producer of the README: three prices under one key.
#include <ringmain/ringmain.hpp>
#include <iostream>

int main() {
    ringmain::Broker broker(ringmain::default_broker_directory(), ringmain::Broker::Mode::open_or_create);
    broker.ensure_topic("prices", {.partitions = 3});
    ringmain::Producer producer(broker, "prices");
    for (const char* price : {"421.50", "421.60", "421.55"}) {
        const auto result = producer.publish({.value = ringmain::as_bytes(price), .key = ringmain::as_bytes("MSFT")});
        if (result.status != ringmain::Status::ok)
            return 1;
        std::cout << "partition " << result.partition << ", offset " << result.offset << ": " << price << '\n';
    }
}
