// A stream whose failures are retried, and a subscription with a pool of threads. Orders come in; one is flaky, one is
// poison.
//
//   retries        prints what became of each order, and the dead letter
#include <ringmain/ringmain.hpp>

#include <ringmain/dead_letter.hpp>

#include <atomic>
#include <chrono>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>

using namespace ringmain;
using namespace std::chrono_literals;

namespace {

void publish_orders(const Broker& broker) {
    Producer producer(broker, "orders");
    for (const char* const text : {"alice 1", "bob poison", "alice 2", "bob 3", "carol flaky", "alice 4"}) {
        const std::string order(text);
        const std::string customer = order.substr(0, order.find(' '));
        ProducerRecord record;
        record.key = as_bytes(customer);
        record.value = as_bytes(order);
        (void)producer.publish(record);
    }
}

void print_letters(const Broker& broker) {
    Consumer reader(broker);
    reader.assign("orders.dlq");
    for (const ConsumerRecord& record : reader.poll().records) {
        const DecodedLetter read = decode_dead_letter(record);
        if (!read.letter)
            continue;
        std::cout << "dead letter: " << text_or(record.value, "-") << ", " << read.letter->attempts << " attempts, "
                  << read.letter->last_error << '\n';
    }
}

}  // namespace

int main() {
    const Broker broker(default_broker_directory(), Broker::Mode::open_or_create);
    TopicOptions options;
    options.records = 1024;
    (void)Broker(broker).ensure_topic("orders", options);
    publish_orders(broker);

    RetryOptions retry;
    retry.attempts = 3;
    retry.backoff = {20ms, 100ms, 2.0, 0.1};
    retry.order = RetryOrder::key;  // a customer's orders stay in order; other customers do not wait

    // one thread, record by record
    std::map<std::string, int> calls;
    RetryRunner runner(broker, "orders", GroupOptions{.name = "billing"}, retry);
    std::size_t finished = 0;
    while (finished < 6) {
        const RunResult result = runner.run_once(
            [&](const ConsumerRecord& record, const Attempt& attempt) {
                const std::string order(text_or(record.value, "-"));
                ++calls[order];
                if (order.ends_with("poison"))
                    throw std::runtime_error("no such product");
                if (order.ends_with("flaky") && attempt.number < 3)
                    return Handled::failure("the bank does not answer");
                std::cout << "billed: " << order
                          << (attempt.number > 1 ? " (at attempt " + std::to_string(attempt.number) + ")" : "") << '\n';
                return Handled::success();
            },
            1s);
        for (const StoppedPartition& stopped : result.stopped)
            std::cerr << "stopped: " << to_string(stopped.why) << '\n';
        finished += result.counts.succeeded + result.counts.dead_lettered;
    }
    runner.close();
    print_letters(broker);

    // the same orders for another group, on threads of our own, at most four at a time
    std::atomic<int> shipped{0};
    const Executor threads = [](std::function<void()> work) { std::thread(std::move(work)).detach(); };
    Subscription subscription =
        subscribe(broker, "orders", GroupOptions{.name = "shipping"}, retry, [&](const ConsumerRecord&) { ++shipped; },
                  {.max_in_flight = 4, .executor = threads});
    while (shipped < 6)
        std::this_thread::sleep_for(1ms);
    subscription.stop();
    std::cout << "shipped " << subscription.statistics().counts.succeeded << ", poison tried " << calls["bob poison"]
              << " times\n";
    return 0;
}
