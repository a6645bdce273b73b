// Left-overs, restarts, lifetimes and fork().
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "broker_impl.hpp"
#include "platform/file_lock.hpp"
#include "platform/files.hpp"
#include "ringmain/keeper.hpp"
#include "ringmain/broker.hpp"
#include "ringmain/consumer.hpp"
#include "ringmain/producer.hpp"
#include "support/catch.hpp"
#include "support/child.hpp"
#include "support/errors.hpp"
#include "support/scratch_directory.hpp"
#include "support/syscall_tracer.hpp"
#include "support/test_broker.hpp"
#include "topic_paths.hpp"

using namespace ringmain;
using test::Child;
using test::ScratchDirectory;
using test::TestBroker;
using test::thrown_by;

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

TopicOptions small() {
    TopicOptions options;
    options.records = 64;
    options.producer_slots = 8;
    options.payload_bytes = 0;
    return options;
}

bool publish(Producer& producer, std::string_view value) {
    ProducerRecord record;
    record.value = as_bytes(value);
    return producer.publish(record).status == Status::ok;
}

std::vector<std::string> read_all(const Broker& broker, const char* topic) {
    Consumer consumer(broker);
    consumer.assign(topic);
    std::vector<std::string> values;
    const PollResult result = consumer.poll(1000);
    for (const ConsumerRecord& record : result.records)
        values.emplace_back(as_text(*record.value));
    return values;
}

// Inode and size of every file under a directory.
std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> inventory(const fs::path& directory) {
    std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> files;
    for (const auto& entry : fs::recursive_directory_iterator(directory)) {
        struct stat status {};
        if (::stat(entry.path().c_str(), &status) == 0 && S_ISREG(status.st_mode)) {
            files[entry.path().string()] = {status.st_ino, static_cast<std::uint64_t>(status.st_size)};
        }
    }
    return files;
}

}  // namespace

TEST_CASE("E02 A broker whose users were all killed opens at once with all topics and records") {
    TestBroker t;
    int ready[2];
    REQUIRE(::pipe(ready) == 0);
    Child user([&] {
        Broker broker(t.scratch.broker());
        platform::FileLock keeper(keeper_lock_path(t.scratch.broker()));
        if (!keeper.try_lock(0))
            return 1;
        broker.create_topic("a", small());
        broker.create_topic("b", small());
        Producer producer(broker, "a");
        for (const char* const value : {"one", "two", "three"}) {
            if (!publish(producer, value))
                return 2;
        }
        (void)!::write(ready[1], "x", 1);
        ::pause();
        return 0;
    });
    char byte = 0;
    REQUIRE(::read(ready[0], &byte, 1) == 1);
    user.kill();
    ::close(ready[0]);
    ::close(ready[1]);

    platform::FileLock keeper(keeper_lock_path(t.scratch.broker()));
    CHECK(keeper.try_lock(0));
    Broker again(t.scratch.broker(), Broker::Mode::open_or_create);
    CHECK(again.list_topics() == std::vector<std::string>{"a", "b"});
    CHECK(again.verify().damage.empty());
    CHECK(read_all(again, "a") == std::vector<std::string>{"one", "two", "three"});
}

TEST_CASE("E08 Opening beside a loop of create and delete succeeds, finds nothing or finds a dead topic") {
    TestBroker t;
    std::vector<Child> openers;
    for (int i = 0; i < 3; ++i) {
        openers.emplace_back([&] {
            Broker broker(t.scratch.broker());
            const auto end = std::chrono::steady_clock::now() + 2s;
            while (std::chrono::steady_clock::now() < end) {
                try {
                    Producer producer(broker, "t");
                    ProducerRecord record;
                    record.value = as_bytes("value");
                    const Status status = producer.publish(record).status;
                    if (status != Status::ok && status != Status::topic_deleted)
                        return 10 + static_cast<int>(status);
                } catch (const Error& error) {
                    if (error.code() == ErrorCode::not_found || error.code() == ErrorCode::not_ready)
                        continue;
                    if (error.code() == ErrorCode::topic_deleted)
                        continue;
                    return 40 + static_cast<int>(error.code());
                }
            }
            return 0;
        });
    }
    Child maker([&] {
        Broker broker(t.scratch.broker());
        const auto end = std::chrono::steady_clock::now() + 2s;
        while (std::chrono::steady_clock::now() < end) {
            broker.create_topic("t", small());
            broker.delete_topic("t");
        }
        return 0;
    });
    CHECK(maker.wait() == 0);
    for (Child& opener : openers)
        CHECK(opener.wait() == 0);
    CHECK(t.broker.list_topics().empty());
}

TEST_CASE("E10 Ensuring a topic succeeds while other creators and deleters are killed") {
    TestBroker t;
    std::vector<Child> users;
    for (int i = 0; i < 4; ++i) {
        users.emplace_back([&] {
            Broker broker(t.scratch.broker());
            const auto end = std::chrono::steady_clock::now() + 3s;
            while (std::chrono::steady_clock::now() < end)
                broker.ensure_topic("t", small());
            return 0;
        });
    }
    int killed = 0;
    for (const auto end = std::chrono::steady_clock::now() + 2s; std::chrono::steady_clock::now() < end; ++killed) {
        Child victim([&]() -> int {
            Broker broker(t.scratch.broker());
            for (;;) {
                broker.ensure_topic("t", small());
                (void)thrown_by([&] { broker.delete_topic("t"); });
            }
        });
        std::this_thread::sleep_for(std::chrono::microseconds(500 + killed * 377 % 20'000));
        victim.kill();
    }
    for (Child& user : users)
        CHECK(user.wait() == 0);
    t.broker.ensure_topic("t", small());
    t.broker.impl()->sweep_leftovers();
    CHECK(t.broker.verify().damage.empty());
    CHECK(platform::names_in(staging_path(t.scratch.broker())).empty());
    CHECK(platform::names_in(trash_path(t.scratch.broker())).empty());
}

TEST_CASE("E11 A consumer hears every record of two hundred lives of a producer, half of which end by SIGKILL") {
    TestBroker t;
    TopicOptions options = small();
    options.records = 1024;
    t.broker.create_topic("t", options);
    Keeper keeper(t.broker);
    Consumer consumer(t.broker);
    consumer.assign("t", Position::earliest());
    std::vector<std::string> heard;
    for (int life = 0; life < 200; ++life) {
        int published[2];
        REQUIRE(::pipe(published) == 0);
        Child child([&] {
            Broker broker(t.scratch.broker());
            Producer producer(broker, "t");
            if (!publish(producer, "life " + std::to_string(life)))
                return 1;
            if (life % 2 == 0)
                return 0;
            (void)!::write(published[1], "x", 1);
            ::pause();
            return 2;
        });
        char byte = 0;
        if (life % 2 == 0) {
            REQUIRE(child.wait() == 0);
        } else {
            REQUIRE(::read(published[0], &byte, 1) == 1);
            child.kill();
        }
        ::close(published[0]);
        ::close(published[1]);
        (void)keeper.do_work(std::chrono::milliseconds(life * 10));
        const PollResult result = consumer.poll();
        for (const ConsumerRecord& record : result.records)
            heard.emplace_back(as_text(*record.value));
        REQUIRE((result.gaps.empty() && result.failures.empty()));
    }
    REQUIRE(heard.size() == 200);
    for (std::size_t life = 0; life < heard.size(); ++life)
        CHECK(heard[life] == "life " + std::to_string(life));
}

TEST_CASE("E12 A client that leaves removes, renames and creates nothing") {
    if (!test::can_trace())
        SKIP("needs the right to trace");
    TestBroker t;
    t.broker.create_topic("t", small());
    const auto before = inventory(t.scratch.broker());
    const std::vector<std::uint64_t> calls = test::system_calls_of([&] {
        Broker broker(t.scratch.broker());
        Producer producer(broker, "t");
        if (!publish(producer, "value"))
            throw std::runtime_error("publish failed");
        if (read_all(broker, "t").empty())
            throw std::runtime_error("nothing read");
    });
    for (const std::uint64_t forbidden : std::initializer_list<std::uint64_t>{
             SYS_unlinkat,
             SYS_renameat2,
             SYS_mkdirat,
             SYS_linkat,
             SYS_ftruncate,
             SYS_fallocate,
             SYS_fchmod,
#ifdef SYS_unlink
             SYS_unlink,
             SYS_rmdir,
             SYS_rename,
             SYS_mkdir,
             SYS_link,
             SYS_creat,
#endif
         }) {
        CHECK(std::count(calls.begin(), calls.end(), forbidden) == 0);
    }
    CHECK(inventory(t.scratch.broker()) == before);
}

TEST_CASE("E12 After a hundred clients the files are the same inodes") {
    TestBroker t;
    t.broker.create_topic("t", small());
    const auto before = inventory(t.scratch.broker());
    for (int i = 0; i < 100; ++i) {
        Child client([&] {
            Broker broker(t.scratch.broker());
            Producer producer(broker, "t");
            if (!publish(producer, "value"))
                return 1;
            return read_all(broker, "t").empty() ? 2 : 0;
        });
        REQUIRE(client.wait() == 0);
    }
    CHECK(inventory(t.scratch.broker()) == before);
}

TEST_CASE("E14 Killed clients leak neither files nor bytes nor slots") {
    TestBroker t;
    t.broker.create_topic("t", small());
    (void)t.broker.impl()->client();
    const auto before = inventory(t.scratch.broker());
    for (int i = 0; i < 200; ++i) {
        int ready[2];
        REQUIRE(::pipe(ready) == 0);
        Child client([&] {
            Broker broker(t.scratch.broker());
            Producer producer(broker, "t");
            Consumer consumer(broker);
            consumer.assign("t");
            const bool published = publish(producer, "value");
            const bool lapped = !consumer.poll(10).gaps.empty();  // once the ring has gone round
            const bool good =
                published && (lapped ? !consumer.poll(10).records.empty() : consumer.position("t", 0) > 0);
            (void)!::write(ready[1], good ? "g" : "b", 1);
            ::pause();
            return 0;
        });
        char answer = 0;
        REQUIRE(::read(ready[0], &answer, 1) == 1);
        REQUIRE(answer == 'g');  // with 8 producer slots: the dead ones' were taken back
        client.kill();
        ::close(ready[0]);
        ::close(ready[1]);
    }
    CHECK(inventory(t.scratch.broker()) == before);
    Broker next(t.scratch.broker());
    CHECK(next.impl()->client().slot == 1);
}

TEST_CASE("E15 What a child inherits answers that it is forked, and the parent does not notice") {
    TestBroker t;
    t.broker.create_topic("t", small());
    Producer producer(t.broker, "t");
    Consumer consumer(t.broker);
    consumer.assign("t");
    REQUIRE(publish(producer, "before"));
    enum class End { returns, exits, crashes };
    for (const End end : {End::returns, End::exits, End::crashes}) {
        Child child([&] {
            ProducerRecord record;
            record.value = as_bytes("from the child");
            if (producer.publish(record).status != Status::forked)
                return 1;
            if (consumer.poll().status != Status::forked)
                return 2;
            if (thrown_by([&] { return t.broker.describe_topic("t"); }).code != ErrorCode::forked)
                return 3;
            if (thrown_by([&] { return t.broker.create_topic("u", small()); }).code != ErrorCode::forked)
                return 4;
            if (thrown_by([&] { t.broker.delete_topic("t"); }).code != ErrorCode::forked)
                return 5;
            if (thrown_by([&] { return t.broker.list_topics(); }).code != ErrorCode::forked)
                return 6;
            if (thrown_by([&] { return t.broker.verify(); }).code != ErrorCode::forked)
                return 7;
            Broker own(t.scratch.broker());
            Producer own_producer(own, "t");
            if (!publish(own_producer, "own handle"))
                return 8;
            if (end == End::crashes)
                ::raise(SIGKILL);
            if (end == End::exits)
                ::_exit(0);
            const Producer dropped = std::move(producer);
            const Consumer dropped_too = std::move(consumer);
            return 0;
        });
        CHECK(child.wait() == (end == End::crashes ? 128 + SIGKILL : 0));
        CHECK(publish(producer, "after"));
    }
    CHECK(t.broker.verify().damage.empty());
    const std::vector<std::string> values = read_all(t.broker, "t");
    CHECK(std::count(values.begin(), values.end(), "after") == 3);
    CHECK(std::count(values.begin(), values.end(), "own handle") == 3);
    CHECK(std::count(values.begin(), values.end(), "from the child") == 0);
    CHECK(consumer.poll().records.size() == 7);
}

TEST_CASE("E15 A parent that was killed is proven dead although its child lives") {
    TestBroker t;
    int ready[2];
    REQUIRE(::pipe(ready) == 0);
    struct Report {
        layout::ClientId parent;
        pid_t child = 0;
    };
    Child parent([&] {
        Broker broker(t.scratch.broker());
        const layout::ClientId id = broker.impl()->client();
        if (const pid_t child = ::fork(); child == 0) {
            const Report report{id, ::getpid()};
            (void)!::write(ready[1], &report, sizeof report);
            ::sleep(30);
            ::_exit(0);
        }
        ::pause();
        return 0;
    });
    Report report;
    REQUIRE(::read(ready[0], &report, sizeof report) == static_cast<ssize_t>(sizeof report));
    CHECK_FALSE(t.broker.impl()->clients().proven_dead(report.parent));
    parent.kill();
    const bool dead = t.broker.impl()->clients().proven_dead(report.parent);
    const bool child_lived = ::kill(report.child, SIGKILL) == 0;
    CHECK(dead);
    CHECK(child_lived);
    ::close(ready[0]);
    ::close(ready[1]);
}

TEST_CASE("E17 A reader that was there before the first writer gets the first record, from every position") {
    TestBroker t;
    for (const Position from :
         {Position::earliest(), Position::latest(), Position::at(0), Position::since(0), Position::last(5)}) {
        t.broker.create_topic("t", small());
        Consumer consumer(t.broker);
        consumer.assign("t", from);
        CHECK(consumer.poll().records.empty());
        Producer producer(t.broker, "t");
        REQUIRE(publish(producer, "first"));
        const PollResult result = consumer.poll();
        REQUIRE(result.records.size() == 1);
        CHECK(as_text(*result.records[0].value) == "first");
        t.broker.delete_topic("t");
    }
}
