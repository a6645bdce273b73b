// The family G: retries and dead letters when processes die or stop, as processes.
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <list>
#include <map>
#include <random>

#include "concurrency/seed.hpp"
#include "support/child.hpp"
#include "support/retry_place.hpp"

using namespace ringmain;
using namespace ringmain::test;
using namespace std::chrono_literals;

namespace {

Broker open(const RetryPlace& place) { return Broker(place.scratch.broker()); }

/// With room for what killed writers of letters leave half used.
void make_graves(const RetryPlace& place, std::uint32_t partitions) {
    TopicOptions graves;
    graves.partitions = partitions;
    graves.records = 2048;
    graves.producer_slots = 256;
    graves.payload_bytes = 1 << 23;
    graves.when_full = WhenFull::block;
    Broker(place.broker).create_topic("t.dlq", graves);
}

/// Counters that all processes of a test share.
class SharedCounts {
public:
    explicit SharedCounts(std::size_t count) : bytes_(count * sizeof(std::atomic<std::uint32_t>)) {
        counts_ = static_cast<std::atomic<std::uint32_t>*>(
            ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
        if (counts_ == MAP_FAILED)
            throw std::runtime_error("no memory for shared counters");
    }
    ~SharedCounts() { ::munmap(counts_, bytes_); }
    SharedCounts(const SharedCounts&) = delete;
    SharedCounts& operator=(const SharedCounts&) = delete;
    std::atomic<std::uint32_t>& operator[](std::size_t at) const { return counts_[at]; }

private:
    std::size_t bytes_;
    std::atomic<std::uint32_t>* counts_;
};

constexpr std::uint32_t kChaosPartitions = 3;
constexpr std::size_t kChaosRecords = 300;
constexpr std::uint64_t kPoisonEvery = 10;

bool all_committed(const Broker& broker) {
    for (std::uint32_t p = 0; p < kChaosPartitions; ++p) {
        if (committed_in(broker, p) != kChaosRecords)
            return false;
    }
    return true;
}

/// One of the runners of the chaos: poison never succeeds, every third record does at its second attempt.
int be_runner(const RetryPlace& place, const SharedCounts& successes) {
    const Broker broker = open(place);
    GroupOptions options = group();
    options.session_timeout = 300ms;
    RetryRunner runner(broker, "t", options, after(2ms, 30, RetryOrder::key));
    (void)run_until(
        runner,
        [&](const ConsumerRecord& record, const Attempt& attempt) {
            std::this_thread::sleep_for(100us);
            if (record.offset % kPoisonEvery == 0)
                return Handled::rejected("poison");
            if (record.offset % 3 == 0 && attempt.number == 1)
                return Handled::failure("not yet");
            successes[record.partition * kChaosRecords + record.offset].fetch_add(1);
            return Handled::success();
        },
        [&] { return all_committed(broker); });
    return 0;
}

}  // namespace

TEST_CASE(
    "G08 A record that kills its handler is dead-lettered after as many deaths as it has attempts, and is not tried "
    "again") {
    RetryPlace place;
    place.publish("before");
    place.publish("kills");
    place.publish("after");
    int deaths = 0;
    for (bool done = false; !done;) {
        REQUIRE(deaths < 10);
        Child child([&] {
            const Broker broker = open(place);
            RetryRunner runner(broker, "t", group(), after(5ms, 3));
            (void)run_until(
                runner,
                [](const ConsumerRecord& record) {
                    if (record.offset == 1)
                        ::raise(SIGKILL);
                },
                [&] { return committed_in(broker) == 3; });
            return 0;
        });
        const int code = child.wait();
        done = code == 0;
        if (!done) {
            REQUIRE(code == 128 + SIGKILL);
            ++deaths;
        }
    }
    CHECK(deaths == 3);
    CHECK(place.committed() == 3);
    const auto letters = place.letters();
    REQUIRE(letters.size() == 1);
    CHECK(letters[0].value == "kills");
    CHECK(letters[0].attempts == 3);
    CHECK(letters[0].reason == DeadLetterReason::worker_died);
}

TEST_CASE(
    "G13 Killed at any moment of dead-lettering and committing, runners leave exactly one letter for each record") {
    constexpr std::size_t kRecords = 400;
    RetryPlace place(2, 512);
    for (std::uint32_t p = 0; p < 2; ++p)
        place.publish_many(kRecords, p);
    make_graves(place, 2);
    std::mt19937_64 random(seed_for("G13"));
    const auto done = [&] { return place.committed(0) == kRecords && place.committed(1) == kRecords; };
    { const RetryRunner begins(place.broker, "t", group(), at_once(2)); }
    int kills = 0;
    for (; kills < 200 && !done(); ++kills) {
        Child child([&] {
            const Broker broker = open(place);
            RetryRunner runner(broker, "t", group(), at_once(2));
            (void)run_until(
                runner,
                [](const ConsumerRecord&, const Attempt&) {
                    std::this_thread::sleep_for(20us);
                    return Handled::failure("no");
                },
                [&] { return committed_in(broker, 0) == kRecords && committed_in(broker, 1) == kRecords; });
            return 0;
        });
        std::this_thread::sleep_for(std::chrono::microseconds(2'000 + random() % 20'000));
        child.kill();
    }
    RetryRunner last(place.broker, "t", group(), at_once(2));
    const RetryHandler fails = [](const ConsumerRecord&, const Attempt&) { return Handled::failure("no"); };
    (void)run_until(last, fails, done);
    for (const StoppedPartition& one : last.run_once(fails).stopped)
        UNSCOPED_INFO("stopped: " << to_string(one.why) << " at " << one.offset);
    REQUIRE(done());
    std::map<std::pair<std::uint32_t, std::uint64_t>, int> letters;
    for (const ReadLetter& letter : place.letters())
        ++letters[{letter.partition, letter.offset}];
    CHECK(letters.size() == 2 * kRecords);
    CHECK(std::all_of(letters.begin(), letters.end(), [](const auto& one) { return one.second == 1; }));
    CHECK(kills > 3);
}

TEST_CASE(
    "G13 Runners that come, go, are killed, stopped and continued leave no record unhandled and write no letter "
    "twice") {
    RetryPlace place(kChaosPartitions, 512);
    for (std::uint32_t p = 0; p < kChaosPartitions; ++p) {
        for (std::size_t i = 0; i < kChaosRecords; ++i)
            place.publish("x", "key " + std::to_string(i % 7), p);
    }
    make_graves(place, kChaosPartitions);
    { const RetryRunner begins(place.broker, "t", group(), after(2ms, 30)); }
    const SharedCounts successes(kChaosPartitions * kChaosRecords);
    std::mt19937_64 random(seed_for("G13 chaos"));
    struct Running {
        Child child;
        bool stopped = false;
    };
    std::list<Running> running;
    const auto until = std::chrono::steady_clock::now() + 4s;
    while (std::chrono::steady_clock::now() < until && !all_committed(place.broker)) {
        while (running.size() < 4)
            running.push_back({Child([&] { return be_runner(place, successes); })});
        std::this_thread::sleep_for(std::chrono::milliseconds(1 + random() % 30));
        const auto one = std::next(running.begin(), static_cast<std::ptrdiff_t>(random() % running.size()));
        switch (random() % 3) {
            case 0:
                one->child.kill();
                running.erase(one);
                break;
            case 1:
                one->child.signal(one->stopped ? SIGCONT : SIGSTOP);
                one->stopped = !one->stopped;
                break;
            default:
                break;
        }
    }
    for (Running& one : running)
        one.child.signal(SIGCONT);
    for (Running& one : running)
        CHECK(one.child.wait(60s) == 0);
    CHECK(be_runner(place, successes) == 0);
    REQUIRE(all_committed(place.broker));
    std::map<std::pair<std::uint32_t, std::uint64_t>, int> letters;
    for (const ReadLetter& letter : place.letters())
        ++letters[{letter.partition, letter.offset}];
    for (std::uint32_t p = 0; p < kChaosPartitions; ++p) {
        for (std::uint64_t offset = 0; offset < kChaosRecords; ++offset) {
            const bool poison = offset % kPoisonEvery == 0;
            const std::uint32_t handled = successes[p * kChaosRecords + offset].load();
            const int buried = letters[{p, offset}];
            INFO("partition " << p << ", offset " << offset << ": succeeded " << handled << ", letters " << buried);
            if (poison)
                CHECK((handled == 0 && buried == 1));
            if (!poison)
                CHECK((handled + static_cast<std::uint32_t>(buried) >= 1 && buried <= 1));
        }
    }
}

TEST_CASE(
    "A runner that is stopped in its handler is not waited for, and hears when it wakes up that its answer came too "
    "late") {
    RetryPlace place;
    place.publish("x");
    GroupOptions options = group();
    options.session_timeout = 200ms;
    Child stopped([&] {
        const Broker broker = open(place);
        RetryRunner runner(broker, "t", options, after(5ms, 5));
        RunCounts counts;
        while (counts.handled == 0)
            counts += runner.run_once([](const ConsumerRecord&) { ::raise(SIGSTOP); }, 10ms).counts;
        return counts.late == 1 ? 0 : 1;
    });
    int status = 0;
    REQUIRE(::waitpid(stopped.pid(), &status, WUNTRACED) == stopped.pid());
    REQUIRE(WIFSTOPPED(status));
    bool after_death = false;
    RetryRunner runner(place.broker, "t", options, after(5ms, 5));
    const RunCounts counts = run_until(
        runner,
        [&](const ConsumerRecord&, const Attempt& attempt) {
            after_death = attempt.after_death;
            CHECK(attempt.number == 2);
            return Handled::success();
        },
        [&] { return place.committed() == 1; });
    CHECK(counts.succeeded == 1);
    CHECK(counts.died == 1);
    CHECK(after_death);
    stopped.signal(SIGCONT);
    CHECK(stopped.wait() == 0);
    CHECK(place.committed() == 1);
}

TEST_CASE(
    "A reset that is killed between telling the runners and moving the group loses nothing, and repeats at the most") {
    RetryPlace place;
    place.publish_many(10);
    std::map<std::uint64_t, int> handled;
    const RetryHandler handler = [&](const ConsumerRecord& record) { ++handled[record.offset]; };
    std::mt19937_64 random(seed_for("reset"));
    { const RetryRunner begins(place.broker, "t", group(), at_once()); }
    for (int i = 0; i < 20; ++i) {
        Child child([&] {
            const Broker broker = open(place);
            GroupAdmin admin(broker);
            for (;;)
                (void)admin.execute(admin.plan("t", "g", ResetTarget::at(5)), true);
            return 0;
        });
        RetryRunner runner(place.broker, "t", group(), at_once());
        std::this_thread::sleep_for(std::chrono::microseconds(500 + random() % 5'000));
        (void)runner.run_once(handler);
        child.kill();
    }
    handled.clear();
    place.reset(ResetTarget::at(5));
    RetryRunner runner(place.broker, "t", group(), at_once());
    (void)run_until(runner, handler, [&] { return place.committed() == 10; });
    CHECK(place.committed() == 10);
    for (std::uint64_t offset = 5; offset < 10; ++offset)
        CHECK(handled[offset] >= 1);
}
