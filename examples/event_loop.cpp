// A consumer inside an event loop: its descriptor sits in epoll beside a timer, and nobody burns a core.
#include <ringmain/ringmain.hpp>

#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <string>
#include <thread>

namespace {

constexpr int kRecords = 50;

void publish_slowly(const ringmain::Broker& broker) {
    ringmain::Producer producer(broker, "events");
    for (int number = 0; number < kRecords; ++number) {
        const std::string text = "event " + std::to_string(number);
        ringmain::ProducerRecord record;
        record.value = ringmain::as_bytes(text);
        if (producer.publish(record).status != ringmain::Status::ok)
            return;
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
}

void watch(int epoll, int descriptor) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = descriptor;
    ::epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event);
}

int make_timer() {
    const int timer = ::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    const itimerspec every_20_ms{{0, 20'000'000}, {0, 20'000'000}};
    ::timerfd_settime(timer, 0, &every_20_ms, nullptr);
    return timer;
}

/// Reads until there is nothing: only then does the descriptor become unreadable.
int read_all(ringmain::Consumer& consumer) {
    int records = 0;
    for (;;) {
        const ringmain::PollResult result = consumer.poll();
        if (result.status != ringmain::Status::ok)
            return -1;
        if (result.records.empty() && result.gaps.empty())
            return records;
        records += static_cast<int>(result.records.size());
    }
}

}  // namespace

int main() {
    ringmain::Broker broker(ringmain::default_broker_directory(), ringmain::Broker::Mode::open_or_create);
    broker.ensure_topic("events");
    ringmain::Consumer consumer(broker);
    consumer.assign("events", ringmain::Position::latest());

    const int epoll = ::epoll_create1(EPOLL_CLOEXEC);
    const int timer = make_timer();
    watch(epoll, timer);
    watch(epoll, consumer.descriptor());

    std::jthread publisher([&broker] { publish_slowly(broker); });
    int records = 0;
    int ticks = 0;
    while (records < kRecords && ticks < 500) {
        std::array<epoll_event, 8> events{};
        const int ready = ::epoll_wait(epoll, events.data(), static_cast<int>(events.size()), -1);
        for (int index = 0; index < ready; ++index) {
            if (events[static_cast<std::size_t>(index)].data.fd == timer) {
                std::uint64_t expirations = 0;
                if (::read(timer, &expirations, sizeof expirations) > 0)
                    ++ticks;
            } else if (const int count = read_all(consumer); count >= 0) {
                records += count;
            } else {
                return 1;
            }
        }
    }
    ::close(timer);
    ::close(epoll);
    std::cout << "records " << records << ", timer ticks " << ticks << '\n';
    return records == kRecords ? 0 : 1;
}
