// The member of a group of the README: start it as often as you like; each record goes to one of them.
#include <ringmain/ringmain.hpp>
#include <iostream>

int main() {
    ringmain::Broker broker(ringmain::default_broker_directory(), ringmain::Broker::Mode::open_or_create);
    broker.ensure_topic("prices", {.partitions = 3});
    ringmain::Consumer consumer(broker, ringmain::GroupOptions{.name = "billing"});
    consumer.subscribe("prices");
    for (;;) {
        const auto result = consumer.poll(256, std::chrono::seconds(1));
        for (const auto& record : result.records)
            std::cout << "bill " << ringmain::text_or(record.value, "-") << '\n';
        if (result.records.empty()) return consumer.close().status == ringmain::Status::ok ? 0 : 1;
    }
}
