// Every word of a topic's groups file scribbled on while members poll, commit, replay, leave and come: no crash and no hang,
// and no record that was not published.
#include <chrono>
#include <cstdlib>
#include <memory>
#include <optional>
#include <random>
#include <thread>
#include <vector>

#include "concurrency/seed.hpp"
#include "concurrency/watchdog.hpp"
#include "layout/groups.hpp"
#include "ringmain/keeper.hpp"
#include "support/group_place.hpp"
#include "topic_geometry.hpp"
#include "topic_paths.hpp"

namespace ringmain::test {

namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t kPartitions = 3;

std::chrono::milliseconds duration() { return std::getenv("RINGMAIN_LONG") != nullptr ? 60'000ms : 4'000ms; }

/// Random words, and words that look like others.
class Scribbler {
public:
    Scribbler(const GroupPlace& place, std::uint64_t seed)
        : random_(seed), file_(groups_path(place.scratch.broker() / "topics" / "t"), platform::Access::read_write, layout::kGroupsAt) {}

    void scribble() {
        auto& word = at(random_());
        const std::uint64_t old = word.load(std::memory_order_relaxed);
        switch (random_() % 7) {
            case 0: word.store(random_(), std::memory_order_relaxed); break;
            case 1: word.store(0, std::memory_order_relaxed); break;
            case 2: word.store(~std::uint64_t{0}, std::memory_order_relaxed); break;
            case 3: word.store(old ^ std::uint64_t{1} << random_() % 64, std::memory_order_relaxed); break;
            case 4: word.store(old + random_() % 5 - 2, std::memory_order_relaxed); break;
            case 5: word.store(at(random_()).load(std::memory_order_relaxed), std::memory_order_relaxed); break;
            default: word.store(random_() % 64, std::memory_order_relaxed); break;
        }
    }
    /// Everything as in a new file, so that groups can begin again.
    void clear() {
        for (std::uint64_t i = 0; i < words(); ++i) at(i).store(0, std::memory_order_relaxed);
    }

private:
    [[nodiscard]] std::uint64_t words() const { return (file_.size() - layout::kGroupsControlAt) / 8; }
    [[nodiscard]] std::atomic<std::uint64_t>& at(std::uint64_t index) {
        return *reinterpret_cast<std::atomic<std::uint64_t>*>(file_.data() + layout::kGroupsControlAt + index % words() * 8);
    }
    std::mt19937_64 random_;
    platform::Mapping file_;
};

class Victim {
public:
    Victim(const GroupPlace& place, std::uint64_t seed) : place_(place), random_(seed) {}

    void act() {
        try {
            if (!consumer_ || random_() % 64 == 0) return start();
            read();
            if (random_() % 4 == 0) (void)consumer_->commit();
            if (random_() % 32 == 0) (void)consumer_->close();
            if (random_() % 32 == 0) consumer_->subscribe("t");
            for (const TopicPartition& one : consumer_->assignment()) {
                if (random_() % 32 == 0) (void)consumer_->replay(one.topic, one.partition, Position::earliest());
                if (random_() % 32 == 0) (void)consumer_->seek(one.topic, one.partition, Position::committed());
                (void)consumer_->committed(one.topic, one.partition);
            }
        } catch (const Error&) {  // refused, which is an answer
        }
    }

    std::uint64_t records = 0;
    std::uint64_t wrong = 0;

private:
    void start() {
        GroupOptions options = group(random_() % 2 == 0 ? "g" : "h");
        options.session_timeout = 100ms;
        options.on_loss = OnLoss::earliest;
        options.gating = random_() % 2 == 0;
        if (random_() % 3 == 0) options.static_name = "static";
        options.delivery = random_() % 2 == 0 ? Delivery::at_least_once : Delivery::at_most_once;
        options.listener.revoked = [this](auto) { (void)consumer_->commit(); };
        consumer_.emplace(place_.broker, options);
        if (random_() % 4 == 0) {
            consumer_->assign("t", Position::committed());
        } else {
            consumer_->subscribe("t");
        }
    }
    void read() {
        if (random_() % 4 == 0) {
            (void)consumer_->visit([this](const ConsumerRecord& record) { take(record); });
            return;
        }
        for (const ConsumerRecord& record : consumer_->poll(16, std::chrono::milliseconds(random_() % 3)).records) take(record);
    }
    void take(const ConsumerRecord& record) {
        ++records;
        wrong += !record.value || as_text(*record.value) != "x" ? 1 : 0;
    }

    const GroupPlace& place_;
    std::mt19937_64 random_;
    std::optional<Consumer> consumer_;
};

}  // namespace

TEST_CASE("Members of a group whose words are scribbled on neither crash nor hang, and go on when there is a group again") {
    const std::uint64_t seed = seed_for("scribbled groups");
    GroupPlace place(kPartitions, WhenFull::block);
    const Watchdog watchdog("scribbled groups", 150s);
    Scribbler scribbler(place, derive_seed(seed, 0));
    Victim one(place, derive_seed(seed, 1));
    Victim two(place, derive_seed(seed, 2));
    std::atomic<bool> done{false};
    std::thread other([&] {
        while (!done.load(std::memory_order_acquire)) two.act();
    });
    std::mt19937_64 random(derive_seed(seed, 3));
    Producer producer(place.broker, "t");
    Keeper keeper(place.broker);
    ProducerRecord record;
    record.value = as_bytes("x");
    const auto until = std::chrono::steady_clock::now() + duration();
    for (std::uint32_t i = 0; std::chrono::steady_clock::now() < until; ++i) {
        if (random() % 4 == 0) scribbler.scribble();
        if (random() % 256 == 0) scribbler.clear();
        record.partition = i % kPartitions;
        (void)producer.try_publish(record);
        one.act();
        if (random() % 64 == 0) (void)keeper.do_work(std::chrono::milliseconds(i));
    }
    done.store(true, std::memory_order_release);
    other.join();
    CHECK(one.wrong + two.wrong == 0);
    CHECK(one.records + two.records > 0);
    scribbler.clear();
    Consumer after(place.broker, group("after"));
    after.subscribe("t");
    (void)after.poll(0);
    CHECK(after.assignment().size() == kPartitions);
    CHECK(after.commit().status == Status::ok);
}

}  // namespace ringmain::test
