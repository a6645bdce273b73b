// Broker directories with damaged files: every call answers, none crashes and none hangs.
#include <chrono>
#include <iostream>
#include <string>
#include <vector>

#include "concurrency/seed.hpp"
#include "hostile/broker_image.hpp"
#include "hostile/counting_child.hpp"
#include "ringmain/broker.hpp"
#include "ringmain/consumer.hpp"
#include "ringmain/dead_letters.hpp"
#include "ringmain/producer.hpp"
#include "ringmain/queue.hpp"
#include "ringmain/retry.hpp"
#include "support/catch.hpp"
#include "support/child.hpp"
#include "support/scratch_directory.hpp"

namespace ringmain::test {

namespace fs = std::filesystem;

namespace {

std::string describe(const BrokerImage& image, std::uint64_t seed, std::uint64_t index) {
    std::mt19937_64 random(derive_seed(seed, index));
    return image.damage(random);
}

/// Opens each file that is there for itself. Throws Error.
void open_everything(const fs::path& directory) {
    const Broker broker(directory);
    Consumer consumer(broker);
    for (const char* topic : {kImageTopic, kImageBlockTopic, kImageLetters}) {
        consumer.assign(topic);
        Producer producer(broker, topic);
        producer.attach(0);
    }
    QueueWorker worker(broker, kImageTopic, kImageQueue);
    (void)DeadLetters(broker).summarize(kImageLetters);
    RetryOptions options;
    options.attempts = 2;
    options.backoff = {std::chrono::milliseconds(0), std::chrono::milliseconds(0), 1, 0};
    RetryRunner runner(broker, kImageTopic, {.name = kImageRetries}, options);
    const RunResult result = runner.run_once([](const ConsumerRecord&) {});
    if (result.status == Status::corrupt || !result.failures.empty())
        throw Error(ErrorCode::corrupt, kImageTopic, "the runner cannot open its partition");
    if (!broker.verify().damage.empty())
        throw Error(ErrorCode::corrupt, kImageTopic, "a file that only a check opens");
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
        const int code = wait_while_it_counts(child, *next);
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
                    open_everything(image.directory());
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

}  // namespace ringmain::test
