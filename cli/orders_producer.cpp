// A producer of orders: several orders are under way at any time, each with its events in order.
#include <fmt/format.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>

#include "demo_record.hpp"
#include "orders_roles.hpp"
#include "ringmain/broker.hpp"
#include "ringmain/producer.hpp"

namespace ringmain::cli::orders {

namespace {

/// How many orders later than its placing an order is paid, packed and shipped.
constexpr std::array<std::uint64_t, kSteps.size()> kDelay = {0, 3, 8, 15};

class OrderDesk {
public:
    OrderDesk(const Plan& plan, const Board& board, ProducerPanel& panel, Producer& producer, Producer& labels,
              std::uint32_t index)
        : plan_(plan),
          panel_(panel),
          producer_(producer),
          labels_(labels),
          index_(index),
          started_ns_(board.started_ns.load(std::memory_order_relaxed)) {}

    void work() {
        for (std::uint64_t turn = 0; turn < plan_.orders_per_producer + kDelay.back(); ++turn) {
            for (std::size_t step = 0; step < kSteps.size(); ++step) {
                if (turn >= kDelay[step] && turn - kDelay[step] < plan_.orders_per_producer)
                    publish(turn - kDelay[step], step);
            }
        }
    }

private:
    void publish(std::uint64_t own_order, std::size_t step) {
        const std::int64_t due_ns = started_ns_ + static_cast<std::int64_t>(published_ * plan_.event_every_ns);
        if (const std::int64_t early_ns = due_ns - now_ns(); early_ns > 0)
            std::this_thread::sleep_for(std::chrono::nanoseconds(early_ns));
        const std::uint64_t order = own_order * plan_.options.producers + index_;
        const std::string key = fmt::format("order-{:06}", order);
        const std::string value = fmt::format("{} {}.{:02} EUR", kSteps[step], 10 + order % 90, order % 100);
        const demo::RecordNumbers numbers(step + 1, 0);
        ProducerRecord record;
        record.key = as_bytes(key);
        record.value = as_bytes(value);
        record.headers = numbers.headers();
        publish(producer_, record);
        panel_.published.store(++published_, std::memory_order_relaxed);
        if (step != kLabelStep)
            return;
        record.value = as_bytes(town_of(order));
        record.headers = {};
        publish(labels_, record);
        panel_.labels.store(++labels_published_, std::memory_order_relaxed);
    }

    static void publish(Producer& producer, const ProducerRecord& record) {
        const PublishResult result = producer.publish(record);
        if (result.status == Status::ok)
            return;
        throw std::runtime_error(fmt::format("publish of {} to {}: {}", text_or(record.key, "-"), producer.topic(),
                                             to_string(result.status)));
    }

    const Plan& plan_;
    ProducerPanel& panel_;
    Producer& producer_;
    Producer& labels_;
    std::uint32_t index_;
    std::int64_t started_ns_;
    std::uint64_t published_ = 0;
    std::uint64_t labels_published_ = 0;
};

}  // namespace

void run_producer(const Plan& plan, Board& board, std::uint32_t index) {
    ProducerPanel& panel = board.producers[index];
    const Broker broker(plan.broker);
    Producer producer(broker, kTopic);
    Producer labels(broker, kLabels);
    for (Producer* each : {&producer, &labels}) {
        for (std::uint32_t partition = 0; partition < each->partitions(); ++partition)
            each->attach(partition);
    }
    panel.ready.store(true, std::memory_order_release);
    while (board.started_ns.load(std::memory_order_acquire) == 0)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    OrderDesk(plan, board, panel, producer, labels, index).work();
}

}  // namespace ringmain::cli::orders
