// Broker directories with damaged files: every call answers, none crashes and none hangs.
#include <sys/mman.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "concurrency/seed.hpp"
#include "hostile/broker_image.hpp"
#include "ringmain/broker.hpp"
#include "ringmain/consumer.hpp"
#include "ringmain/producer.hpp"
#include "ringmain/queue.hpp"
#include "support/catch.hpp"
#include "support/child.hpp"
#include "support/scratch_directory.hpp"

namespace ringmain::test {

namespace fs = std::filesystem;

namespace {

constexpr auto kPatience = std::chrono::seconds(30);  // for one damage, on a machine that does other things

/// Memory that a child and its parent both see.
class Shared {
public:
    Shared()
        : counter_(static_cast<std::atomic<std::uint64_t>*>(
              ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {}
    Shared(const Shared&) = delete;
    Shared& operator=(const Shared&) = delete;
    ~Shared() { ::munmap(counter_, 4096); }
    std::atomic<std::uint64_t>& operator*() const noexcept { return *counter_; }

private:
    std::atomic<std::uint64_t>* counter_;
};

/// Waits for a child that counts what it does. Returns as Child::wait; -1 also if the counter stands still.
int wait_while_it_counts(Child& child, const Shared& counter) {
    std::uint64_t seen = (*counter).load(std::memory_order_acquire);
    for (;;) {
        const auto until = std::chrono::steady_clock::now() + kPatience;
        while (std::chrono::steady_clock::now() < until) {
            siginfo_t ended{};
            if (::waitid(P_PID, static_cast<id_t>(child.pid()), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
                ended.si_pid != 0)
                return child.wait();
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
        }
        const std::uint64_t now = (*counter).load(std::memory_order_acquire);
        if (now == seen)
            return -1;
        seen = now;
    }
}

std::string describe(const BrokerImage& image, std::uint64_t seed, std::uint64_t index) {
    std::mt19937_64 random(derive_seed(seed, index));
    const Damaged damaged = image.damage(random);
    return damaged.file.string() + damaged.what;
}

}  // namespace

TEST_CASE("Damaged files give errors or records, and no crash and no hang") {
    const std::uint64_t seed = seed_for("segment images");
    const std::uint64_t images = from_environment("RINGMAIN_HOSTILE_IMAGES", 1000);
    const ScratchDirectory scratch;
    const BrokerImage image(scratch.broker());
    const Shared next;
    std::vector<std::string> faults;
    while ((*next).load(std::memory_order_acquire) < images && faults.size() < 5) {
        Child child([&] {
            for (std::uint64_t i = (*next).load(std::memory_order_acquire); i < images; ++i) {
                std::mt19937_64 random(derive_seed(seed, i));
                (void)image.damage(random);
                use_broker(image.directory());
                (*next).store(i + 1, std::memory_order_release);
            }
            return 0;
        });
        const int code = wait_while_it_counts(child, next);
        if (code == 0)
            continue;
        const std::uint64_t at = (*next).load(std::memory_order_acquire);
        faults.push_back("image " + std::to_string(at) + (code < 0 ? " hangs" : " ends with " + std::to_string(code)) +
                         ": " + describe(image, seed, at));
        (*next).store(at + 1, std::memory_order_release);
    }
    std::cout << "hostile segments: " << (*next).load(std::memory_order_acquire) << " images\n";
    CHECK(faults == std::vector<std::string>{});
}

TEST_CASE("Truncated files are refused before anything in them is followed") {
    const ScratchDirectory scratch;
    const BrokerImage image(scratch.broker());
    std::vector<std::string> faults;
    for (const auto& [name, bytes] : image.files()) {
        if (bytes.size() < 4096)
            continue;  // lock files have no content
        for (const std::size_t size :
             {std::size_t{0}, std::size_t{1}, std::size_t{63}, std::size_t{64}, std::size_t{100}, std::size_t{4095},
              std::size_t{4096}, bytes.size() / 2, bytes.size() - 4096, bytes.size() - 1}) {
            if (size >= bytes.size())
                continue;
            image.restore();
            fs::resize_file(image.directory() / name, size);
            Child child([&] {
                try {
                    const Broker broker(image.directory());
                    Consumer consumer(broker);
                    consumer.assign(kImageTopic);
                    Producer producer(broker, kImageTopic);
                    QueueWorker worker(broker, kImageTopic, kImageQueue);
                } catch (const Error&) {
                    use_broker(image.directory());
                    return 0;
                }
                return 1;
            });
            const int code = child.wait(kPatience);
            if (code != 0)
                faults.push_back(name.string() + " of " + std::to_string(size) + " bytes: " + std::to_string(code));
        }
    }
    CHECK(faults == std::vector<std::string>{});
}

TEST_CASE("A process that scribbles over a live log stops nobody and crashes nobody") {
    const std::uint64_t seed = seed_for("scribbler");
    const ScratchDirectory scratch;
    const BrokerImage image(scratch.broker());
    image.restore();
    const Shared used;
    Child scribbler([&] {
        std::mt19937_64 random(seed);
        std::fstream log(image.directory() / image.log_file(), std::ios::in | std::ios::out | std::ios::binary);
        for (;;) {
            // everything but the header page, which is looked at when the log is opened
            const std::size_t at = 4096 + random() % (random() % 2 == 0 ? 5200 : 60'000) / 8 * 8;
            const std::uint64_t word = nasty_word(random() % 64, random);
            log.seekp(static_cast<std::streamoff>(at)).write(reinterpret_cast<const char*>(&word), sizeof word).flush();
            if (random() % 64 == 0)
                std::this_thread::sleep_for(std::chrono::microseconds(50));
        }
        return 0;
    });
    Child user([&] {
        const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(3);
        while (std::chrono::steady_clock::now() < until) {
            use_broker(image.directory());
            (*used).fetch_add(1, std::memory_order_acq_rel);
        }
        return 0;
    });
    const int code = wait_while_it_counts(user, used);
    std::cout << "scribbled log: used " << (*used).load(std::memory_order_acquire) << " times\n";
    CHECK(code == 0);
}

}  // namespace ringmain::test
