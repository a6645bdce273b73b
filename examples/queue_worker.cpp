// The worker of a queue of the README: start it as often as you like, more often than there are partitions.
#include <ringmain/ringmain.hpp>
#include <iostream>

int main() {
    ringmain::Broker broker(ringmain::default_broker_directory(), ringmain::Broker::Mode::open_or_create);
    broker.ensure_topic("prices", {.partitions = 3});
    ringmain::QueueWorker worker(broker, "prices", "archive", ringmain::QueueOptions{.delivery_limit = 3});
    for (;;) {
        const auto result = worker.acquire(16, std::chrono::seconds(1));
        for (const auto& [record, deliveries, lock, lock_left] : result.records)
            if (std::cout << "archive " << ringmain::text_or(record.value, "-") << '\n') worker.ack(lock);
            else worker.nack(lock);
        if (result.records.empty()) return result.status == ringmain::Status::ok ? 0 : 1;
    }
}
