// `ringmaind --check`, `--help` and the example file.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

#include "daemon/http_sockets.hpp"
#include "platform/files.hpp"
#include "program.hpp"
#include "ringmain/broker.hpp"
#include "running_daemon.hpp"
#include "support/catch.hpp"
#include "support/scratch_directory.hpp"

using namespace ringmain;
using test::contains;
using test::ScratchDirectory;
using test::start;

namespace {

namespace fs = std::filesystem;

struct Checked {
    int code;
    std::string text;
};

Checked run(const std::vector<std::string>& arguments) {
    const ScratchDirectory scratch;
    const fs::path output = scratch.path() / "output";
    const int code = start(RINGMAIN_DAEMON_PATH, arguments, {.output = output}).wait();
    return {code, test::text_in(output)};
}

struct File {
    ScratchDirectory scratch;
    fs::path path = scratch.path() / "c.toml";
    explicit File(const std::string& text) { std::ofstream(path) << text << std::flush; }
    [[nodiscard]] Checked check() const { return run({"--check", path.string(), "-d", scratch.broker().string()}); }
};

const std::string kSmall = "records = 64\nproducers = 2\npayload = 0\ngroups = 2\nmembers = 2\n";

/// With every example in it switched on, for the accounts that every host has.
std::string with_examples(std::string text) {
    static const std::regex kExample("(^|\\n)# (\\[[^\\n]*\\](?= *(#|\\n))|\\w+ = [^\\n]*)");
    static const std::regex kAccount("((owner|group) = )\"\\w+\"");
    for (int pass = 0; pass < 2; ++pass)
        text = std::regex_replace(text, kExample, "$1$2");
    return std::regex_replace(text, kAccount, "$1\"root\"");
}

}  // namespace

TEST_CASE("The example file is accepted as it is, and with every example in it switched on") {
    const std::string text = test::text_in(fs::path(RINGMAIN_SOURCE_DIR) / "packaging/ringmaind.toml");
    const File as_it_is(text);
    CHECK(as_it_is.check().code == 0);
    const File everything(with_examples(text));
    const Checked checked = everything.check();
    INFO(with_examples(text));
    INFO(checked.text);
    CHECK(checked.code == 0);
    CHECK_THAT(checked.text, contains("topic orders: would be created") &&
                                 contains("topic prices.eu: would be created") &&
                                 contains("metrics at 127.0.0.1:9464") && contains("of 1000 topics"));
}

TEST_CASE("ringmaind --check says what would be done, and touches nothing") {
    const File file("[topics.a]\n" + kSmall + "retention_age = \"7d\"\nmode = \"0640\"\n[topics.b]\n" + kSmall);
    const Checked fresh = file.check();
    CHECK(fresh.code == 0);
    CHECK_THAT(fresh.text, contains("directory " + file.scratch.broker().string() + ": would be made a broker\n") &&
                               contains("topic a: would be created, ") && contains("retention age 7 d, mode 0640\n") &&
                               contains("in all 2 topics, "));
    CHECK_FALSE(fs::exists(file.scratch.broker()));

    Broker broker(file.scratch.broker(), Broker::Mode::open_or_create);
    TopicOptions options = test::small_topic();
    options.access.mode = 0600;
    broker.create_topic("a", options);
    const auto before = fs::last_write_time(file.scratch.broker());
    const Checked found = file.check();
    CHECK(found.code == 0);
    CHECK_THAT(found.text,
               contains("is a broker\n") &&
                   contains("topic a: retention would be age 7 d, is no limit; access would be mode 0640, is owner ") &&
                   contains("topic b: would be created, "));
    CHECK(broker.list_topics() == std::vector<std::string>{"a"});
    CHECK(broker.describe_topic("a").options.access.mode == 0600U);
    CHECK(fs::last_write_time(file.scratch.broker()) == before);
}

TEST_CASE("ringmaind --check fails where a daemon would log an error: other options, more than the quotas") {
    const File file("[quotas]\ntopics = 2\n[topics.a]\n" + kSmall + "[topics.b]\n" + kSmall);
    Broker broker(file.scratch.broker(), Broker::Mode::open_or_create);
    TopicOptions options = test::small_topic();
    broker.create_topic("other", options);
    const Checked full = file.check();
    CHECK(full.code == 1);
    CHECK_THAT(full.text, contains("in all 3 of 2 topics") && contains("error: that is more than the quotas allow"));
    broker.delete_topic("other");
    CHECK(file.check().code == 0);
    options.records = 128;
    broker.create_topic("a", options);
    const Checked other = file.check();
    CHECK(other.code == 1);
    CHECK_THAT(other.text, contains("topic a: error: exists with records 128, wanted 64; it would be left as it is"));
}

TEST_CASE("ringmaind --check fails for topics that have no room, with needed and free bytes, and counts those before") {
    const ScratchDirectory place;
    const auto free = platform::free_space(place.path());
    REQUIRE(free);
    const auto topic_of = [](const std::string& name, std::uint64_t bytes) {
        constexpr std::uint64_t kPayload = std::uint64_t{64} << 20;
        return "[topics." + name + "]\nrecords = 64\nproducers = 2\npayload = \"64 MiB\"\ngroups = 2\nmembers = 2\npartitions = " +
               std::to_string(bytes / kPayload + 1) + "\n";
    };
    if (free->bytes > std::uint64_t{900} * (64 << 20))
        SKIP("more than 60 GB of shared memory are free");
    const File file(topic_of("a", free->bytes / 10 * 6) + topic_of("b", free->bytes / 10 * 6) + "[topics.c]\n" + kSmall);
    const Checked checked = file.check();
    INFO(checked.text);
    CHECK(checked.code == 1);
    CHECK_THAT(checked.text, contains("topic a: would be created") && contains("topic b: error: ") && contains(" bytes needed, ") &&
                                 contains(" left in '" + file.scratch.broker().string() + "' by the topics before it\n"));
    CHECK_THAT(checked.text, !contains("topic a: error") && !contains("topic c: error"));
    CHECK_FALSE(fs::exists(file.scratch.broker()));
}

TEST_CASE("ringmaind --check fails for a port that another process has, not for one that the daemon itself has") {
    const daemon::ListeningPort taken = daemon::listen_on_port("127.0.0.1", 0);
    const File file("[metrics]\nlisten = \"" + taken.address + "\"\n");
    const Checked refused = file.check();
    INFO(refused.text);
    CHECK(refused.code == 1);
    CHECK_THAT(refused.text, contains("metrics: error: another process listens on " + taken.address + "\n"));

    std::string free;
    {
        const daemon::ListeningPort port = daemon::listen_on_port("127.0.0.1", 0);
        free = "[metrics]\nlisten = \"" + port.address + "\"\n";
    }
    const File other(free);
    CHECK(other.check().code == 0);
    const test::RunningDaemon running(other.scratch.broker(), free);
    CHECK(other.check().code == 0);
    const File another_broker(free);
    CHECK(another_broker.check().code == 1);
}

TEST_CASE("ringmaind --check fails for owners, groups and directories that its user has no right to") {
    if (::geteuid() != 0)
        SKIP("needs root, to become another user");
    constexpr uid_t kUser = 4331;
    const File file("[topics.a]\n" + kSmall + "owner = 0\n[topics.b]\n" + kSmall + "group = 0\n[topics.c]\n" + kSmall + "owner = 4331\n");
    const auto check = [&file] {
        const fs::path output = file.scratch.path() / "output";
        fs::remove(output);
        const std::vector<std::string> arguments{"--check", file.path.string(), "-d", file.scratch.broker().string()};
        const int code = start(RINGMAIN_DAEMON_PATH, arguments, {.output = output, .uid = kUser}).wait();
        return Checked{code, test::text_in(output)};
    };
    CHECK(file.check().code == 0);
    const Checked no_place = check();
    CHECK(no_place.code == 1);
    CHECK_THAT(no_place.text, contains("directory: error: user 4331 can make nothing in '" + file.scratch.path().string() + "': Permission denied"));
    {
        const Broker broker(file.scratch.broker(), Broker::Mode::open_or_create);
    }
    for (const auto& entry : fs::recursive_directory_iterator(file.scratch.path()))
        REQUIRE(::chown(entry.path().c_str(), kUser, kUser) == 0);
    const Checked checked = check();
    INFO(checked.text);
    CHECK(checked.code == 1);
    CHECK_THAT(checked.text, contains("topic a: error: user 4331 may not give files to user 0: Operation not permitted") &&
                                 contains("topic b: error: user 4331 may not give files to group 0: Operation not permitted"));
    CHECK_THAT(checked.text, !contains("topic c: error") && !contains("directory: error"));
}

TEST_CASE("ringmaind --check fails for rights of what is there and belongs to another user") {
    if (::geteuid() != 0)
        SKIP("needs root, to become another user");
    const File file("[topics.a]\n" + kSmall + "mode = \"0660\"\n");
    Broker broker(file.scratch.broker(), Broker::Mode::open_or_create);
    TopicOptions options = test::small_topic();
    options.access.mode = 0664;
    broker.create_topic("a", options);
    const fs::path output = file.scratch.path() / "output";
    const std::vector<std::string> arguments{"--check", file.path.string(), "-d", file.scratch.broker().string()};
    CHECK(start(RINGMAIN_DAEMON_PATH, arguments, {.output = output, .uid = 4331}).wait() == 1);
    CHECK_THAT(test::text_in(output), contains("topic a: error: user 4331 may not change the rights of '" +
                                               (file.scratch.broker() / "topics/a").string() + "', which belongs to user 0"));
    CHECK(file.check().code == 0);
}

TEST_CASE("ringmaind --check prints every error, each beginning with its place, and a daemon does not start on them") {
    const File file("colour = 1\n[topics.a]\nrecords = 1000\n");
    const std::string place = file.path.string();
    const Checked checked = file.check();
    CHECK(checked.code == 1);
    CHECK(checked.text.starts_with(place + ":1:1: colour: unknown key; "));
    CHECK_THAT(
        checked.text,
        contains("\n" + place + ":3:11: topics.a.records: 1000 is not a power of two; the nearest are 512 and 1024\n"));
    const Checked started = run({"--config", place, "-d", file.scratch.broker().string()});
    CHECK(started.code == 1);
    CHECK_THAT(started.text, contains("error ringmaind: " + place + ":1:1: colour: ") &&
                                 contains("error ringmaind: " + place + ":3:11: "));
    CHECK_FALSE(fs::exists(file.scratch.broker()));
}

TEST_CASE("The help has every flag, the signals, the exit codes and examples; wrong flags are wrong command lines") {
    const Checked help = run({"--help"});
    CHECK(help.code == 0);
    for (const char* const part : {"--config", "--check", "--directory", "--interval-ms", "--log-format", "--log-level",
                                   "SIGHUP", "SIGTERM", "Exit codes", "Examples:"})
        CHECK_THAT(help.text, contains(part));
    for (const std::vector<std::string>& wrong :
         std::vector<std::vector<std::string>>{{"--log-format", "xml"},
                                               {"--log-level", "loud"},
                                               {"--interval-ms", "1001"},
                                               {"--check", "a", "--config", "b"},
                                               {"--nonsense"}}) {
        const Checked refused = run(wrong);
        INFO(refused.text);
        CHECK(refused.code == 2);
        CHECK(refused.text.starts_with("ringmaind: "));
    }
}
