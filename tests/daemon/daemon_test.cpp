// The daemon: what it says, what it needs, and how it ends.
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "program.hpp"
#include "running_daemon.hpp"
#include "ringmain/broker.hpp"
#include "ringmain/consumer.hpp"
#include "ringmain/keeper.hpp"
#include "ringmain/producer.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/scratch_directory.hpp"

using namespace ringmain;
using namespace std::chrono_literals;
using test::Child;
using test::Circumstances;
using test::contains;
using test::ScratchDirectory;
using test::start;
using test::text_in;

namespace {

namespace fs = std::filesystem;

constexpr uid_t kStranger = 4304;

TopicOptions small() {
    TopicOptions options;
    options.records = 64;
    options.producer_slots = 2;
    options.payload_bytes = 0;
    return options;
}

/// A file for what programs say, that other users need no rights for.
struct Place {
    ScratchDirectory scratch;
    fs::path output = scratch.path() / "output";

    [[nodiscard]] Circumstances as(uid_t uid) const { return {output, uid, {}}; }
    [[nodiscard]] bool says(const std::string& text) const {
        const auto deadline = std::chrono::steady_clock::now() + 30s;
        while (text_in(output).find(text) == std::string::npos) {
            if (std::chrono::steady_clock::now() > deadline)
                return false;
            std::this_thread::sleep_for(5ms);
        }
        return true;
    }
};

/// Asks its socket: whoever looked by taking the keeper's lock would sometimes be in the daemon's way.
bool becomes_kept(const Broker& broker) {
    return test::eventually([&] { return test::is_healthy(broker.directory() / "keeper.sock"); });
}

}  // namespace

TEST_CASE("The daemon says on stderr when it makes a new broker, and only then") {
    const Place place;
    const std::string broker = place.scratch.broker().string();
    for (int run = 0; run < 2; ++run) {
        Child daemon = start(RINGMAIN_DAEMON_PATH, {"-d", broker}, place.as(0));
        REQUIRE(place.says("keeping " + broker));
        daemon.signal(SIGTERM);
        CHECK(daemon.wait() == 0);
        const bool is_said = text_in(place.output).find("ringmaind: '" + broker + "' is a new broker directory\n") !=
                             std::string::npos;
        CHECK(is_said == (run == 0));
        fs::remove(place.output);
    }
}

TEST_CASE("The daemon makes no directory above the broker's") {
    const Place place;
    const std::string typo = (place.scratch.path() / "typo" / "broker").string();
    CHECK(start(RINGMAIN_DAEMON_PATH, {"-d", typo}, place.as(0)).wait() == 1);
    CHECK_THAT(text_in(place.output), contains("ringmaind: ") && contains(typo));
    CHECK_FALSE(fs::exists(place.scratch.path() / "typo"));
}

TEST_CASE("Every message of the daemon begins with its name") {
    const Place place;
    CHECK(start(RINGMAIN_DAEMON_PATH, {"--no-such-option"}, place.as(0)).wait() == 2);
    CHECK(start(RINGMAIN_DAEMON_PATH, {"--interval-ms", "0"}, place.as(0)).wait() == 2);
    const std::string text = text_in(place.output);
    CHECK(text.starts_with("ringmaind: "));
    CHECK_THAT(text, contains("\nTry 'ringmaind --help'.\nringmaind: "));
}

TEST_CASE("K04 Both programs, run by a user without rights, fail with the file and the missing right") {
    if (::geteuid() != 0)
        SKIP("needs root, to become another user");
    const Place place;
    const std::string directory = place.scratch.broker().string();
    const ::mode_t before = ::umask(0022);
    Broker broker(directory, Broker::Mode::open_or_create);
    broker.create_topic("t", small());
    ::umask(before);
    const auto refused = [&](const char* program, const std::vector<std::string>& arguments, const std::string& file) {
        fs::remove(place.output);
        INFO(program << ' ' << arguments.back());
        CHECK(start(program, arguments, place.as(kStranger)).wait() == 1);
        const std::string text = text_in(place.output);
        CHECK_THAT(text, contains(file) && contains("this process is uid 4304 gid 4304") && contains("write"));
        CHECK(text.find('\n') == text.size() - 1);
    };
    refused(RINGMAIN_DAEMON_PATH, {"-d", directory}, "ringmaind: cannot open for writing '" + directory + "/keeper.lock'");
    refused(RINGMAIN_CLI_PATH, {"-d", directory, "topic", "create", "u"}, "ringmain: cannot open for writing '" + directory + "/clients'");
    refused(RINGMAIN_CLI_PATH, {"-d", directory, "topic", "delete", "t"}, directory + "/clients'");
    refused(RINGMAIN_CLI_PATH, {"-d", directory, "produce", "t", "/etc/hostname"}, directory + "/clients'");
    const std::string inside = directory + "/inside";
    refused(RINGMAIN_DAEMON_PATH, {"-d", inside}, "ringmaind: cannot create the directory '" + inside + "'");
    for (const char* const command : {"consume", "describe"}) {
        std::vector<std::string> arguments{"-d", directory};
        if (std::string(command) == "consume")
            arguments.insert(arguments.end(), {"consume", "t", "-e"});
        else
            arguments.insert(arguments.end(), {"topic", "describe", "t"});
        CHECK(start(RINGMAIN_CLI_PATH, arguments, place.as(kStranger)).wait() == 0);
    }
    CHECK(broker.list_topics() == std::vector<std::string>{"t"});
}

TEST_CASE("A daemon that is started with its standard streams closed keeps its broker and writes into no file of it") {
    for (const std::vector<int>& closed :
         std::vector<std::vector<int>>{{0}, {1}, {2}, {0, 1, 2}, {1, 2}}) {
        const Place place;
        Broker broker(place.scratch.broker(), Broker::Mode::open_or_create);
        broker.create_topic("t", small());
        Child daemon = start(RINGMAIN_DAEMON_PATH, {"-d", place.scratch.broker().string()}, {place.output, 0, closed});
        REQUIRE(becomes_kept(broker));
        daemon.signal(SIGTERM);
        CHECK(daemon.wait() == 0);
        CHECK(broker.verify().damage.empty());
        CHECK(text_in(place.scratch.broker() / "keeper.lock").find("ringmaind") == std::string::npos);
    }
}

TEST_CASE("A command that is started with its standard streams closed damages nothing, and cannot print what it read") {
    for (const std::vector<int>& closed : std::vector<std::vector<int>>{{0}, {1}, {2}, {0, 1, 2}}) {
        const Place place;
        Broker broker(place.scratch.broker(), Broker::Mode::open_or_create);
        broker.create_topic("t", small());
        Producer producer(broker, "t");
        REQUIRE(producer.publish({}).status == Status::ok);
        const bool prints = closed != std::vector<int>{1} && closed.size() == 1;
        const std::vector<std::string> arguments{"-d", place.scratch.broker().string(), "consume", "t", "-e"};
        CHECK(start(RINGMAIN_CLI_PATH, arguments, {place.output, 0, closed}).wait() == (prints ? 0 : 1));
        CHECK(broker.verify().damage.empty());
    }
}
