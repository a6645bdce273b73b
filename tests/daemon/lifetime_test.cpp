// Start, stop, restart and kill -9 of the daemon.
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "broker_impl.hpp"
#include "logged_daemon.hpp"
#include "platform/files.hpp"
#include "ringmain/broker.hpp"
#include "ringmain/consumer.hpp"
#include "ringmain/keeper.hpp"
#include "ringmain/producer.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "topic_paths.hpp"

using namespace ringmain;
using namespace std::chrono_literals;
using test::Child;
using test::contains;
using test::eventually;
using test::LoggedDaemon;
using test::small_topic;
using test::start;

namespace {

namespace fs = std::filesystem;

const std::string kSmall = "records = 64\nproducers = 2\npayload = 0\n";

std::string many_topics(int count) {
    std::string text;
    for (int i = 0; i < count; ++i)
        text += "[topics.t" + std::to_string(i) + "]\n" + kSmall;
    return text;
}

std::size_t leftovers_in(const fs::path& broker) {
    return platform::names_in(staging_path(broker)).size() + platform::names_in(trash_path(broker)).size();
}

}  // namespace

TEST_CASE("E06 A second daemon on the same directory is refused with the pid of the first, which it does not disturb") {
    LoggedDaemon first(many_topics(1));
    const test::ScratchDirectory scratch;
    const fs::path output = scratch.path() / "output";
    for (int round = 0; round < 5; ++round) {
        Child second = start(RINGMAIN_DAEMON_PATH, {"-d", first.broker().string(), "-c", first.file().string()},
                             {.output = output});
        CHECK(second.wait() == 1);
    }
    CHECK_THAT(test::text_in(output),
               contains("another keeper runs for this directory, pid " + std::to_string(first.process().pid())));
    CHECK(test::is_healthy(first.broker() / "keeper.sock"));
    CHECK(Broker(first.broker()).list_topics() == std::vector<std::string>{"t0"});
    CHECK(first.end() == 0);
}

TEST_CASE("E06 Of daemons that start together exactly one runs, and the others end with the pid of it") {
    const test::ScratchDirectory scratch;
    for (int round = 0; round < 5; ++round) {
        const fs::path broker = scratch.path() / ("broker" + std::to_string(round));
        std::vector<Child> daemons;
        std::vector<fs::path> outputs;
        for (int i = 0; i < 4; ++i) {
            outputs.push_back(scratch.path() / ("output" + std::to_string(round) + "-" + std::to_string(i)));
            daemons.push_back(start(RINGMAIN_DAEMON_PATH, {"-d", broker.string()}, {.output = outputs.back()}));
        }
        int running = -1;
        REQUIRE(eventually([&] {
            int refused = 0;
            for (int i = 0; i < 4; ++i) {
                const std::string text = test::text_in(outputs[static_cast<std::size_t>(i)]);
                if (text.find("keeping ") != std::string::npos)
                    running = i;
                refused += text.find("another keeper runs") != std::string::npos ? 1 : 0;
            }
            return running >= 0 && refused == 3;
        }));
        for (int i = 0; i < 4; ++i) {
            if (i == running)
                daemons[static_cast<std::size_t>(i)].signal(SIGTERM);
            CHECK(daemons[static_cast<std::size_t>(i)].wait() == (i == running ? 0 : 1));
        }
    }
}

TEST_CASE("E07 A daemon whose socket file was removed is still the only one") {
    LoggedDaemon first;
    fs::remove(first.broker() / "keeper.sock");
    const test::ScratchDirectory scratch;
    const fs::path output = scratch.path() / "output";
    CHECK(start(RINGMAIN_DAEMON_PATH, {"-d", first.broker().string()}, {.output = output}).wait() == 1);
    CHECK_THAT(test::text_in(output), contains("pid " + std::to_string(first.process().pid())));
    CHECK(first.end() == 0);
}

TEST_CASE(
    "SIGTERM and SIGINT end a daemon with exit code 0, also while it makes a large topic, of which nothing is left") {
    for (const int signal : {SIGTERM, SIGINT}) {
        LoggedDaemon daemon(many_topics(1));
        CHECK(daemon.end(signal) == 0);
        CHECK(daemon.lines("stopped").at(0)["signal"] == signal);
    }
    LoggedDaemon busy("[topics.large]\npartitions = 64\nrecords = \"64K\"\npayload = \"16 MiB\"\n", {}, false);
    if (!eventually([&] { return fs::exists(busy.broker() / "staging") && leftovers_in(busy.broker()) > 0; }))
        SKIP("the topic does not fit /dev/shm, or was made too fast");
    CHECK(busy.end() == 0);
    CHECK(leftovers_in(busy.broker()) == 0);
}

TEST_CASE("E02 E03 While a killed daemon is away nobody misses it; the next one finds all topics, records and committed offsets") {
    LoggedDaemon daemon(many_topics(2));
    Broker broker(daemon.broker());
    Producer producer(broker, "t0");
    for (int i = 0; i < 10; ++i)
        REQUIRE(producer.publish({.value = as_bytes("value")}).status == Status::ok);
    {
        Consumer consumer(broker, GroupOptions{.name = "g"});
        consumer.subscribe("t0");
        REQUIRE(eventually([&] { return !consumer.poll(4).records.empty(); }));
        CHECK(consumer.close().status == Status::ok);
    }
    for (int round = 0; round < 3; ++round) {
        CHECK(daemon.end(SIGKILL) == 128 + SIGKILL);
        CHECK(producer.publish({.value = as_bytes("meanwhile")}).status == Status::ok);  // E03: nobody needs it
        daemon.start();
    }
    CHECK(broker.list_topics() == std::vector<std::string>{"t0", "t1"});
    Consumer again(broker, GroupOptions{.name = "g"});
    again.subscribe("t0");
    std::size_t rest = 0;
    CHECK(eventually([&] {
        rest += again.poll(100).records.size();
        return rest >= 9;
    }));
    CHECK(rest == 9);
    CHECK(broker.verify().damage.empty());
    CHECK(daemon.end() == 0);
}

TEST_CASE("A daemon whose client table was removed ends with 1, and the next one keeps again") {
    LoggedDaemon daemon("[topics.t]\nrecords = 128\npayload = 0\n");
    std::filesystem::remove(daemon.broker() / "clients");
    CHECK(daemon.process().wait(std::chrono::seconds(20)) == 1);
    CHECK_THAT(daemon.message_of_next("keeping_stopped"), contains("clients"));
    CHECK_THAT(daemon.message_of_next("failed"), contains("start the daemon again"));
    daemon.start();
    CHECK(daemon.end() == 0);
}

TEST_CASE("E01 A daemon killed at any moment of making topics leaves nothing that its successor does not sweep") {
    std::mt19937 random(20261130);
    LoggedDaemon daemon("", {}, false);
    daemon.end(SIGKILL);
    const std::string all = many_topics(12);
    for (int round = 0; round < 25; ++round) {
        daemon.write(all);
        daemon.start(false);
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 40'000));
        daemon.end(SIGKILL);
        if (round % 5 != 4)
            continue;
        daemon.forget();
        daemon.start();
        Broker broker(daemon.broker());
        CHECK(broker.list_topics().size() == 12);
        CHECK(broker.verify().damage.empty());
        CHECK(eventually([&] { return leftovers_in(daemon.broker()) == 0; }));
        CHECK(daemon.end() == 0);
        for (const std::string& name : broker.list_topics())
            broker.delete_topic(name);
    }
}

TEST_CASE("What a killed creation left is swept by the daemon, and it says so") {
    LoggedDaemon daemon;
    Child maker([&] {
        Broker(daemon.broker()).impl()->try_create_topic("half", small_topic(), [] { return ::raise(SIGKILL) == 0; });
        return 0;
    });
    CHECK(maker.wait() == 128 + SIGKILL);
    CHECK_THAT(daemon.message_of_next("leftovers_swept"), contains("of killed creations and deletions swept"));
    CHECK(eventually([&] { return leftovers_in(daemon.broker()) == 0; }));
    CHECK(daemon.end() == 0);
}

TEST_CASE("E07 A file that is removed from under its users is noticed and named") {
    LoggedDaemon daemon("[log]\nlevel = \"debug\"\n" + many_topics(1));
    const fs::path log = topics_path(daemon.broker()) / "t0" / "0.log";
    REQUIRE(eventually([&] { return daemon.lines("topic_found").size() == 1; }));
    fs::remove(log);
    const auto line = daemon.next("partition_unreadable");
    REQUIRE(line);
    CHECK((*line)["topic"] == "t0");
    CHECK_THAT(std::string((*line)["message"]), contains(log.string()));
    CHECK(daemon.end() == 0);
}

TEST_CASE("A daemon whose log goes into a pipe that nobody reads works, and ends in time") {
    std::array<int, 2> ends{};
    REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
    const platform::Descriptor reader(ends[0]);
    const platform::Descriptor writer(ends[1]);
    const std::string filling(4096, 'x');
    ::fcntl(writer.get(), F_SETFL, O_NONBLOCK);
    while (::write(writer.get(), filling.data(), filling.size()) > 0) {
    }
    ::fcntl(writer.get(), F_SETFL, 0);
    const test::ScratchDirectory scratch;
    const std::string broker = scratch.broker().string();
    Child daemon = start(RINGMAIN_DAEMON_PATH, {"-d", broker}, {.output_descriptor = writer.get()});
    CHECK(eventually([&] { return test::is_healthy(scratch.broker() / "keeper.sock"); }));
    Broker(scratch.broker()).create_topic("a", small_topic());
    daemon.signal(SIGHUP);
    CHECK(test::is_healthy(scratch.broker() / "keeper.sock"));
    daemon.signal(SIGTERM);
    CHECK(daemon.wait() == 0);
}

TEST_CASE("A daemon whose log reader goes away works on") {
    std::array<int, 2> ends{};
    REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
    platform::Descriptor reader(ends[0]);
    const platform::Descriptor writer(ends[1]);
    const test::ScratchDirectory scratch;
    Child daemon = start(RINGMAIN_DAEMON_PATH, {"-d", scratch.broker().string(), "--log-level", "debug"},
                         {.output_descriptor = writer.get()});
    REQUIRE(eventually([&] { return test::is_healthy(scratch.broker() / "keeper.sock"); }));
    reader.reset();
    Broker(scratch.broker()).create_topic("a", small_topic());
    daemon.signal(SIGHUP);
    CHECK(test::is_healthy(scratch.broker() / "keeper.sock"));
    daemon.signal(SIGTERM);
    CHECK(daemon.wait() == 0);
}

namespace {

/// The daemon in a mount namespace of its own, after `preparation` in a shell; nothing if there is no right to mount.
std::optional<Child> start_in_mounts(const std::string& preparation, const std::vector<std::string>& arguments,
                                     const fs::path& output) {
    if (start("/usr/bin/unshare", {"--mount", "true"}, {.output = output}).wait() != 0)
        return std::nullopt;
    std::vector<std::string> all{"--mount", "/bin/sh", "-c", preparation + " && exec \"$0\" \"$@\"",
                                 RINGMAIN_DAEMON_PATH};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return start("/usr/bin/unshare", all, {.output = output});
}

bool says(const fs::path& output, const std::string& text) {
    return eventually([&] { return test::text_in(output).find(text) != std::string::npos; });
}

}  // namespace

TEST_CASE(
    "D01 On a tmpfs of 8 MiB the daemon makes what fits, says what does not with needed and free bytes, and runs") {
    const test::ScratchDirectory scratch;
    const fs::path output = scratch.path() / "output";
    const fs::path tmpfs = scratch.path() / "tmpfs";
    fs::create_directory(tmpfs);
    const fs::path file = scratch.path() / "c.toml";
    std::ofstream(file) << many_topics(1) << "[topics.usual]\n" << std::flush;
    auto daemon = start_in_mounts("mount -t tmpfs -o size=8m tmpfs " + tmpfs.string(),
                                  {"-c", file.string(), "-d", (tmpfs / "broker").string()}, output);
    if (!daemon)
        SKIP("needs the right to mount");
    CHECK(says(output, "keeping "));
    CHECK_THAT(test::text_in(output), contains("topic 't0' created") && contains("no space for topic 'usual'") &&
                                          contains(" bytes needed, ") && contains(" free"));
    daemon->signal(SIGTERM);
    CHECK(daemon->wait() == 0);
}

TEST_CASE("D05 A daemon whose log lies on a full disk works, and ends in time") {
    const test::ScratchDirectory scratch;
    const fs::path output = scratch.path() / "output";
    const fs::path tmpfs = scratch.path() / "tmpfs";
    fs::create_directory(tmpfs);
    const std::string full = "mount -t tmpfs -o size=64k tmpfs " + tmpfs.string() +
                             " && { dd if=/dev/zero of=" + (tmpfs / "filling").string() +
                             " bs=4k count=100 2>/dev/null; exec 2>" + (tmpfs / "log").string() + "; }";
    auto daemon = start_in_mounts(full, {"-d", scratch.broker().string()}, output);
    if (!daemon)
        SKIP("needs the right to mount");
    CHECK(eventually([&] { return test::is_healthy(scratch.broker() / "keeper.sock"); }));
    daemon->signal(SIGHUP);
    CHECK(test::is_healthy(scratch.broker() / "keeper.sock"));
    daemon->signal(SIGTERM);
    CHECK(daemon->wait() == 0);
}

TEST_CASE("F01 A daemon in a pid namespace of its own reaps the dead outside it, and never the living") {
    if (::geteuid() != 0)
        SKIP("needs root, for a pid namespace");
    const test::ScratchDirectory scratch;
    const fs::path output = scratch.path() / "output";
    const fs::path broker = scratch.broker();
    Child daemon =
        start("/usr/bin/unshare", {"--pid", "--fork", "--kill-child", RINGMAIN_DAEMON_PATH, "-d", broker.string()},
              {.output = output});
    if (!eventually([&] { return test::is_healthy(broker / "keeper.sock"); })) {
        INFO(test::text_in(output));
        SKIP("no pid namespace can be made here");
    }
    Broker here(broker);
    here.create_topic("t", small_topic());
    const auto producer = [&] {
        return Child([&] {
            Broker theirs(broker);
            Producer attached(theirs, "t");
            if (attached.publish({.value = as_bytes("x")}).status != Status::ok)
                return 1;
            for (;;)
                ::pause();
        });
    };
    const auto attached = [&] { return here.describe_topic("t").partitions[0].producers.size(); };
    Child living = producer();
    Child dying = producer();
    REQUIRE(eventually([&] { return attached() == 2; }));
    living.signal(SIGSTOP);
    dying.kill();
    CHECK(eventually([&] { return attached() == 1; }));
    std::this_thread::sleep_for(1500ms);
    CHECK(attached() == 1);
    CHECK(test::thrown_by([&] { Keeper second(here); }).code == ErrorCode::busy);
    living.kill();
    CHECK(eventually([&] { return attached() == 0; }));
    daemon.kill();
    CHECK(eventually([&] { return !test::thrown_by([&] { Keeper second(here); }).code; }));
}
