// Typed records: a feed handler publishes order book updates by the thousand, a strategy keeps the best prices.
//
// One producer per partition is the norm in trading, so the feed is exclusive: no fetch-add, no compare-and-swap. The
// strategy spins, which costs a core and saves the wake-up.
#include <ringmain/ringmain.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <string_view>
#include <thread>

namespace {

/// What travels. Both sides check name and size when they attach, so two builds cannot disagree in silence.
struct BookUpdate {
    static constexpr std::string_view kRecordName = "example.BookUpdate";
    std::uint64_t sequence;
    std::uint32_t instrument;
    std::int32_t bid_ticks;
    std::int32_t ask_ticks;
    std::uint32_t size;
};
static_assert(sizeof(BookUpdate) == 24, "travels inside a 64-byte cell");

constexpr std::uint32_t kInstruments = 4;
constexpr std::uint64_t kUpdates = 20'000;

void run_feed(const ringmain::Broker& broker) {
    ringmain::ProducerOptions options;
    options.exclusive = true;
    ringmain::TypedProducer<BookUpdate> feed(broker, "book", options);
    for (std::uint64_t sequence = 1; sequence <= kUpdates; ++sequence) {
        const auto instrument = static_cast<std::uint32_t>(sequence % kInstruments);
        const auto tick = static_cast<std::int32_t>(sequence % 97);
        const BookUpdate update{sequence, instrument, 10'000 + tick, 10'001 + tick, 100};
        if (feed.publish(update).status != ringmain::Status::ok)
            return;
    }
}

struct Strategy {
    std::array<BookUpdate, kInstruments> book{};
    std::uint64_t last_sequence = 0;
    std::uint64_t seen = 0;
    std::uint64_t lost = 0;
    bool ordered = true;

    void take(const BookUpdate& update) {
        ordered = ordered && update.sequence > last_sequence;
        last_sequence = update.sequence;
        book.at(update.instrument) = update;
        ++seen;
    }
};

}  // namespace

int main() {
    ringmain::Broker broker(ringmain::default_broker_directory(), ringmain::Broker::Mode::open_or_create);
    ringmain::TopicOptions options;
    options.value_type = ringmain::value_type<BookUpdate>();
    broker.ensure_topic("book", options);

    ringmain::ConsumerOptions consumer_options;
    consumer_options.wait = ringmain::WaitStrategy::spin;
    ringmain::TypedConsumer<BookUpdate> updates(broker, consumer_options);
    updates.assign("book", ringmain::Position::latest());

    std::jthread feed([&broker] { run_feed(broker); });
    Strategy strategy;
    while (strategy.last_sequence < kUpdates) {
        const auto result =
            updates.poll([&](const BookUpdate& update, const ringmain::ConsumerRecord&) { strategy.take(update); }, 256,
                         std::chrono::seconds(5));
        if (result.status != ringmain::Status::ok)
            return 1;
        // A strategy that fell a whole ring behind is told, with numbers, and goes on with what is newest.
        for (const auto& gap : result.gaps)
            strategy.lost += gap.count();
        if (result.records.empty() && result.gaps.empty())
            return 1;  // five seconds without a word from the feed
    }
    std::cout << "updates " << strategy.seen << ", lost " << strategy.lost
              << ", in order: " << (strategy.ordered ? "yes" : "no") << '\n';
    for (const BookUpdate& best : strategy.book) {
        std::cout << "instrument " << best.instrument << ": " << best.bid_ticks << " / " << best.ask_ticks << '\n';
    }
    return strategy.ordered && strategy.seen + strategy.lost == kUpdates ? 0 : 1;
}
