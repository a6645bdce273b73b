// The consumer of the README: reads from the first offset on, history and live alike, until a second is quiet.
#include <ringmain/ringmain.hpp>
#include <iostream>

int main() {
    ringmain::Broker broker(ringmain::default_broker_directory(), ringmain::Broker::Mode::open_or_create);
    broker.ensure_topic("prices", {.partitions = 3});
    ringmain::Consumer consumer(broker);
    consumer.assign("prices", ringmain::Position::earliest());
    for (;;) {
        const auto [status, records, gaps, failures] = consumer.poll(256, std::chrono::seconds(1));
        for (const auto& record : records)
            std::cout << ringmain::text_or(record.key, "-") << " = " << ringmain::text_or(record.value, "-") << '\n';
        if (records.empty() && gaps.empty()) return status == ringmain::Status::ok ? 0 : 1;
    }
}
