// The keeper in a thread of the application: no daemon to install. It recycles what killed producers leave behind.
//
// A producer process is killed here again and again. Nobody waits for the dead; the keeper only gives their slots and
// cells back.
#include <ringmain/ringmain.hpp>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <thread>

namespace {

constexpr int kKilled = 5;

/// The other process: publishes until it is killed.
int publish_until_killed() {
    ringmain::Producer producer(ringmain::Broker(), "jobs");
    ringmain::ProducerRecord record;
    record.value = ringmain::as_bytes("work");
    while (producer.publish(record).status == ringmain::Status::ok)
        std::this_thread::yield();
    return 1;
}

pid_t start_publisher() {
    const pid_t pid = ::fork();
    // exec at once: handles do not survive a fork, and this process has threads.
    if (pid == 0) {
        ::execl("/proc/self/exe", "embedded_keeper", "publish", static_cast<char*>(nullptr));
        ::_exit(127);
    }
    return pid;
}

/// Lets the publisher get at least one record out, then kills it while it goes on.
bool kill_while_publishing(pid_t pid, const std::atomic<std::uint64_t>& read) {
    const std::uint64_t before = read.load();
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (read.load() == before && std::chrono::steady_clock::now() < deadline)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    return read.load() != before;
}

void read_until_stopped(const std::stop_token& stop, ringmain::Consumer& consumer, std::atomic<std::uint64_t>& read) {
    while (!stop.stop_requested())
        read += consumer.poll(256, std::chrono::milliseconds(10)).records.size();
}

}  // namespace

int main(int argc, char**) {
    if (argc > 1)
        return publish_until_killed();
    ringmain::Broker broker(ringmain::default_broker_directory(), ringmain::Broker::Mode::open_or_create);
    ringmain::TopicOptions options;
    options.producer_slots = 2;  // without the keeper a third killed producer would have to look for a dead one's slot
    broker.ensure_topic("jobs", options);

    ringmain::Keeper keeper(broker);
    std::jthread housekeeping([&keeper](const std::stop_token& stop) { keeper.run(stop); });

    ringmain::Consumer consumer(broker);
    consumer.assign("jobs", ringmain::Position::latest());
    std::atomic<std::uint64_t> read{0};
    int killed = 0;
    {
        std::jthread reader([&](const std::stop_token& stop) { read_until_stopped(stop, consumer, read); });
        while (killed < kKilled && kill_while_publishing(start_publisher(), read))
            ++killed;
    }
    std::cout << "producers killed " << killed << ", each was read from\n";
    return killed == kKilled ? 0 : 1;
}
