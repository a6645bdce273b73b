// A process with the right to write does harm to all live files while others do everything that is to be done.
#include <chrono>
#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "concurrency/seed.hpp"
#include "hostile/broker_image.hpp"
#include "hostile/counting_child.hpp"
#include "hostile/image_content.hpp"
#include "hostile/touch.hpp"
#include "platform/mapping.hpp"
#include "ringmain/ringmain.hpp"
#include "support/catch.hpp"
#include "support/scratch_directory.hpp"
#include "topic_paths.hpp"

namespace ringmain::test {

namespace fs = std::filesystem;

namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kPage = 4096;

bool is_long() { return from_environment("RINGMAIN_LONG", 0) != 0; }

/// All files of a broker as they are at this moment, mapped. The page that says what the client table is stays: without
/// it there is no broker to make a topic anew in.
class Scribbler {
public:
    Scribbler(const fs::path& directory, std::uint64_t seed) : random_(seed) {
        for (const fs::directory_entry& entry : fs::recursive_directory_iterator(directory))
            add(entry, directory);
    }

    void scribble() {
        if (files_.empty())
            return;
        platform::Mapping& file = files_[random_() % files_.size()];
        const std::uint64_t first = skipped(file);
        auto& word = at(file, first);
        const std::uint64_t other = at(files_[random_() % files_.size()], first).load(std::memory_order_relaxed);
        word.store(random_() % 3 == 0 ? other : nasty_word(word.load(std::memory_order_relaxed), random_),
                   std::memory_order_relaxed);
    }

private:
    void add(const fs::directory_entry& entry, const fs::path& directory) {
        std::error_code gone;
        const std::uintmax_t bytes = fs::file_size(entry.path(), gone);
        if (gone || bytes < 2 * kPage)
            return;
        attempt([&] { files_.emplace_back(entry.path(), platform::Access::read_write, 1); });
        if (entry.path() == clients_path(directory) && !files_.empty())
            clients_ = files_.back().data();
    }
    [[nodiscard]] std::uint64_t skipped(const platform::Mapping& file) const {
        return file.data() == clients_ ? kPage : 0;
    }
    /// Mostly near the beginning, where words are that others follow.
    std::atomic<std::uint64_t>& at(platform::Mapping& file, std::uint64_t first) {
        const std::uint64_t end = random_() % 2 == 0 ? file.size() : std::min<std::uint64_t>(file.size(), 6 * kPage);
        const std::uint64_t place = first + random_() % ((end - first) / 8) * 8;
        return *reinterpret_cast<std::atomic<std::uint64_t>*>(file.data() + place);
    }

    std::mt19937_64 random_;
    std::vector<platform::Mapping> files_;
    const std::byte* clients_ = nullptr;
};

void remove_topics(Broker& broker) {
    for (const char* topic : {kImageTopic, kImageBlockTopic, kImageLetters})
        attempt([&] { broker.delete_topic(topic); });
}

/// What is done to the files of topics that were just made, until `end`. Counts what it does.
using Harm = std::function<void(const fs::path& directory, std::mt19937_64& random,
                                std::chrono::steady_clock::time_point end, std::atomic<std::uint64_t>& count)>;

void scribble(const fs::path& directory, std::mt19937_64& random, std::chrono::steady_clock::time_point end,
              std::atomic<std::uint64_t>& count) {
    Scribbler scribbler(directory, random());
    const std::uint64_t rest = std::uint64_t{1} << random() % 12;
    while (std::chrono::steady_clock::now() < end) {
        scribbler.scribble();
        count.fetch_add(1, std::memory_order_relaxed);
        if (count.load(std::memory_order_relaxed) % 8 == 0)
            std::this_thread::sleep_for(std::chrono::microseconds(rest));
    }
}

/// Cuts one file of a topic after the other.
void cut(const fs::path& directory, std::mt19937_64& random, std::chrono::steady_clock::time_point end,
         std::atomic<std::uint64_t>& count) {
    for (int times = 0; times < 3 && std::chrono::steady_clock::now() < end; ++times) {
        std::vector<fs::path> files;
        std::error_code gone;
        for (fs::recursive_directory_iterator at(topics_path(directory), gone), none; !gone && at != none;
             at.increment(gone)) {
            if (at->is_regular_file(gone))
                files.push_back(at->path());
        }
        if (files.empty())
            return;
        const fs::path& file = files[random() % files.size()];
        const std::uintmax_t bytes = fs::file_size(file, gone);
        if (!gone && bytes != 0)
            fs::resize_file(file, random() % 2 == 0 ? 0 : random() % bytes, gone);
        if (!gone)
            count.fetch_add(1, std::memory_order_relaxed);
        std::this_thread::sleep_for(20ms);
    }
}

/// Makes the topics anew, lets the others do something with them, does its harm for a while, and so on.
int harm_until(const fs::path& directory, std::uint64_t seed, std::chrono::steady_clock::time_point until,
               const Harm& harm, std::atomic<std::uint64_t>& count, std::atomic<std::uint64_t>& rounds) {
    std::mt19937_64 random(seed);
    while (std::chrono::steady_clock::now() < until) {
        try {
            Broker broker(directory);
            remove_topics(broker);
            make_image_topics(broker);
            std::this_thread::sleep_for(20ms);
            harm(directory, random, std::min(until, std::chrono::steady_clock::now() + 250ms), count);
        } catch (const std::exception&) {  // the others had their hands in it
        }
        rounds.fetch_add(1, std::memory_order_acq_rel);
    }
    return 0;
}

int use_until_stopped(const fs::path& directory, const Use& use, const std::atomic<std::uint64_t>& stop,
                      std::atomic<std::uint64_t>& uses) {
    while (stop.load(std::memory_order_acquire) == 0) {
        attempt([&] {
            const Broker broker(directory);
            for (int i = 0; i < 20 && stop.load(std::memory_order_acquire) == 0; ++i) {
                attempt([&] { use.run(broker); });
                uses.fetch_add(1, std::memory_order_acq_rel);
            }
        });
        uses.fetch_add(1, std::memory_order_acq_rel);
    }
    return 0;
}

/// Publishes to the topic and gets all of it by hand, by a group and by a queue.
void check_that_it_works(Broker& broker, const std::string& topic) {
    constexpr std::uint64_t kRecords = 12;
    Producer producer(broker, topic);
    for (std::uint64_t i = 0; i < kRecords; ++i)
        REQUIRE(producer.publish({.value = as_bytes("sound")}).status == Status::ok);
    const auto all_sound = [](std::span<const ConsumerRecord> records) {
        for (const ConsumerRecord& record : records)
            CHECK(text_or(record.value, "") == "sound");
        return records.size();
    };
    Consumer by_hand(broker);
    by_hand.assign(topic);
    CHECK(all_sound(by_hand.poll(100).records) == kRecords);
    Consumer member(broker, GroupOptions{.name = "after"});
    member.subscribe(topic);
    std::size_t got = 0;
    for (int i = 0; i < 100 && got < kRecords; ++i)
        got += all_sound(member.poll(100, 10ms).records);
    CHECK(got == kRecords);
    CHECK(member.commit().status == Status::ok);
    QueueOptions options;
    options.exhausted = options.expired = Exhausted::skip;
    QueueAdmin(broker).create(topic, "queue after", options);
    QueueWorker worker(broker, topic, "queue after");
    std::size_t settled = 0;
    for (int i = 0; i < 100 && settled < kRecords; ++i) {
        const AcquireResult acquired = worker.acquire(100, 10ms);
        for (const QueueRecord& one : acquired.records) {
            CHECK(text_or(one.record.value, "") == "sound");
            settled += worker.ack(one.lock).settled == Settled::done ? 1 : 0;
        }
    }
    CHECK(settled == kRecords);
}

/// Everybody at work while one does harm; then topics are made anew, and all is well.
void check_that_harm_passes(const char* what, const char* unit, const Harm& harm) {
    const std::uint64_t seed = seed_for(what);
    const auto duration = is_long() ? std::chrono::seconds(600) : std::chrono::seconds(10);
    const ScratchDirectory scratch;
    const fs::path directory = scratch.broker();
    { const Broker broker(directory, Broker::Mode::open_or_create); }
    const Shared stop;
    const Shared done;  // 0: what the harm counts, 1: its rounds
    const Shared uses;  // one counter for each
    const auto until = std::chrono::steady_clock::now() + duration;
    Child harmer([&] { return harm_until(directory, seed, until, harm, done[0], done[1]); });
    std::vector<std::unique_ptr<Child>> users;
    for (std::size_t i = 0; i < all_uses().size(); ++i) {
        users.push_back(std::make_unique<Child>([&, i] {
            survive_truncation();
            return use_until_stopped(directory, all_uses()[i], *stop, uses[i]);
        }));
    }
    CHECK(wait_while_it_counts(harmer, done[1]) == 0);
    (*stop).store(1, std::memory_order_release);
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < users.size(); ++i) {
        INFO("the one who was to " << all_uses()[i].name);
        CHECK(wait_while_it_counts(*users[i], uses[i]) == 0);
        CHECK(uses[i].load(std::memory_order_acquire) > 0);
        total += uses[i].load(std::memory_order_acquire);
    }
    std::cout << what << ": " << done[0].load(std::memory_order_acquire) << " " << unit << " in "
              << done[1].load(std::memory_order_acquire) << " rounds, " << total << " uses by " << users.size()
              << " processes\n";
    CHECK(done[0].load(std::memory_order_acquire) > 0);
    Broker broker(directory);
    for (const std::string& topic : broker.list_topics())
        broker.delete_topic(topic);
    make_image_topics(broker);
    for (const char* topic : {kImageTopic, kImageBlockTopic})
        check_that_it_works(broker, topic);
    Keeper keeper(broker);
    for (int i = 0; i < 5; ++i)
        (void)keeper.do_work(std::chrono::seconds(i));
    CHECK(broker.verify().damage.empty());
}

}  // namespace

TEST_CASE(
    "A process that scribbles over all files of a broker crashes and stops nobody, and topics made anew are sound") {
    check_that_harm_passes("scribbled files", "words", scribble);
}

TEST_CASE(
    "A process that cuts the files of topics crashes and stops nobody who survives it, and topics made anew are "
    "sound") {
    check_that_harm_passes("cut files", "cuts", cut);
}

}  // namespace ringmain::test
