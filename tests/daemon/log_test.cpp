// The log: one line per event, limited, and never in anybody's way.
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "daemon/event_line.hpp"
#include "daemon/line_limit.hpp"
#include "daemon/log.hpp"
#include "platform/descriptor.hpp"
#include "program.hpp"
#include "support/catch.hpp"
#include "support/scratch_directory.hpp"

using namespace ringmain;
using namespace ringmain::daemon;
using namespace std::chrono_literals;
using platform::Descriptor;
using test::contains;
using test::ScratchDirectory;
using test::text_in;

namespace {

struct LogFile {
    ScratchDirectory scratch;
    std::filesystem::path path = scratch.path() / "log";
    Descriptor file{::open(path.c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600)};

    [[nodiscard]] std::vector<std::string> lines() const {
        std::vector<std::string> all;
        std::istringstream stream(text_in(path));
        for (std::string line; std::getline(stream, line);)
            all.push_back(line);
        return all;
    }
};

struct Pipe {
    Pipe() {
        std::array<int, 2> ends{};
        if (::pipe2(ends.data(), O_CLOEXEC) != 0)
            throw std::runtime_error("pipe2 failed");
        read = Descriptor(ends[0]);
        write = Descriptor(ends[1]);
    }
    [[nodiscard]] std::string drain() const {
        ::fcntl(read.get(), F_SETFL, O_NONBLOCK);
        std::string text;
        std::array<char, 65'536> piece{};
        for (ssize_t count; (count = ::read(read.get(), piece.data(), piece.size())) > 0;)
            text.append(piece.data(), static_cast<std::size_t>(count));
        return text;
    }
    Descriptor read;
    Descriptor write;
};

LogLine line(const std::string& message, const char* event = "something") {
    return {.event = event, .message = message, .limited = false};
}

}  // namespace

TEST_CASE("A text line has time, level, program and message, and stays one line whatever a name holds") {
    const LogFile place;
    Log log(place.file.get(), {});
    log.write(line("topic 'a\nb\x1b[31m' is odd"));
    const auto lines = place.lines();
    REQUIRE(lines.size() == 1);
    CHECK(lines[0].substr(4, 1) == "-");
    CHECK(lines[0].substr(10, 1) == "T");
    CHECK(lines[0].ends_with(" info ringmaind: topic 'a\\x0ab\\x1b[31m' is odd"));
}

TEST_CASE("A JSON line has ts, level, event, topic, partition, details and message, whatever bytes a name holds") {
    const LogFile place;
    Log log(place.file.get(), {LogFormat::json, LogLevel::info, 10s});
    log.write({.level = LogLevel::warning,
               .event = "retention_held",
               .topic = "t",
               .partition = 3,
               .message = "a \"b\"\n\xff",
               .details = {{"from", std::uint64_t{9007199254740993}}, {"subject", std::string("gate")}}});
    const auto lines = place.lines();
    REQUIRE(lines.size() == 1);
    const auto object = nlohmann::json::parse(lines[0]);
    CHECK(object["level"] == "warning");
    CHECK(object["event"] == "retention_held");
    CHECK(object["topic"] == "t");
    CHECK(object["partition"] == 3);
    CHECK(object["from"] == 9007199254740993);
    CHECK(object["subject"] == "gate");
    const std::string ts = object["ts"];
    CHECK(ts.size() == 24);
    CHECK(ts.back() == 'Z');
    CHECK(lines[0].starts_with("{\"ts\":"));
}

TEST_CASE("What is below the level is not written, and a level can be changed") {
    const LogFile place;
    Log log(place.file.get(), {LogFormat::text, LogLevel::warning, 10s});
    log.write(line("quiet"));
    log.set({LogFormat::text, LogLevel::info, 10s});
    log.write(line("loud"));
    REQUIRE(place.lines().size() == 1);
    CHECK_THAT(place.lines()[0], contains("loud"));
}

TEST_CASE("For systemd's journal a line has a priority and no time") {
    const LogFile place;
    struct stat status {};
    REQUIRE(::fstat(place.file.get(), &status) == 0);
    const std::string stream = std::to_string(status.st_dev) + ":" + std::to_string(status.st_ino);
    ::setenv("JOURNAL_STREAM", stream.c_str(), 1);
    {
        Log log(place.file.get(), {});
        log.write(line("one"));
        log.write({.level = LogLevel::error, .event = "e", .message = "two"});
    }
    ::setenv("JOURNAL_STREAM", "1:1", 1);  // stderr was sent elsewhere
    Log(place.file.get(), {}).write(line("three"));
    ::unsetenv("JOURNAL_STREAM");
    const auto lines = place.lines();
    REQUIRE(lines.size() == 3);
    CHECK(lines[0] == "<6>one");
    CHECK(lines[1] == "<3>two");
    CHECK_THAT(lines[2], contains(" info ringmaind: three"));
}

TEST_CASE("Of lines of one kind and topic a few are written per window, and the others counted when it ends") {
    using Clock = LineLimit::Clock;
    LineLimit limit(10s);
    const Clock::time_point start{1h};
    const auto admitted = [&](const LineLimit::Kind& kind, Clock::time_point now, int lines) {
        int count = 0;
        for (int i = 0; i < lines; ++i)
            count += limit.admits(kind, now) ? 1 : 0;
        return count;
    };
    CHECK(admitted({"e", "a"}, start, 12) == 5);
    CHECK(admitted({"e", "b"}, start + 1s, 3) == 3);
    CHECK(admitted({"f", "a"}, start + 1s, 5) == 5);
    CHECK(limit.next_end() == start + 10s);
    CHECK(limit.ended(start + 9s).empty());
    const auto ended = limit.ended(start + 10s);
    REQUIRE(ended.size() == 1);
    CHECK(ended[0].kind == LineLimit::Kind{"e", "a"});
    CHECK(ended[0].lines == 7);
    CHECK_FALSE(limit.next_end());
    CHECK(limit.ended(start + 20s).empty());
    CHECK(admitted({"e", "a"}, start + 20s, 6) == 5);
    for (int kind = 0; kind < 5000; ++kind)  // memory is bounded by what happens within a window
        CHECK(limit.admits({"e", std::to_string(kind)}, start + std::chrono::hours(kind)));
}

TEST_CASE("A log that suppresses lines says so once to whoever waits, and how many when asked after the window") {
    const LogFile place;
    Log log(place.file.get(), {LogFormat::text, LogLevel::info, 100ms});
    int wakes = 0;
    log.on_first_suppressed([&] { ++wakes; });
    for (int i = 0; i < 100; ++i)
        log.write({.event = "topic_unreadable", .topic = "t", .message = "again"});
    REQUIRE(place.lines().size() >= 5);
    CHECK(wakes >= 1);
    while (log.next_summary()) {
        std::this_thread::sleep_until(*log.next_summary());
        log.write_summaries(Log::Clock::now());
    }
    std::size_t again = 0;
    std::size_t suppressed = 0;
    for (const std::string& one : place.lines()) {
        const std::size_t at = one.find("suppressed ");
        again += one.ends_with("again") ? 1 : 0;
        if (at != std::string::npos) {
            CHECK_THAT(one, contains("similar lines of topic_unreadable for topic 't'"));
            suppressed += std::stoul(one.substr(at + 11));
        }
    }
    CHECK(again + suppressed == 100);
}

TEST_CASE("A full pipe, and one that nobody reads, hold nobody up; what was lost is counted when there is room again") {
    Pipe pipe;
    Log log(pipe.write.get(), {});
    const std::string long_line(1000, 'x');
    for (int i = 0; i < 1000; ++i)
        log.write(line(long_line));
    CHECK_FALSE(pipe.drain().empty());
    CHECK((::fcntl(pipe.write.get(), F_GETFL) & O_NONBLOCK) == 0);  // which others share
    log.write(line("after"));
    log.write(line("and more"));
    const std::string text = pipe.drain();
    CHECK_THAT(text, contains("ringmaind: after\n") && contains("ringmaind: and more\n") &&
                         contains(" lines of this log could not be written\n"));
    pipe.read.reset();
    const auto before = ::signal(SIGPIPE, SIG_IGN);  // as the daemon does
    for (int i = 0; i < 10; ++i)
        log.write(line("to nobody"));
    ::signal(SIGPIPE, before);
}

TEST_CASE("A socket that is full, as the journal's may be, holds nobody up") {
    std::array<int, 2> ends{};
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0);
    const Descriptor reader(ends[0]);
    const Descriptor writer(ends[1]);
    Log log(writer.get(), {});
    for (int i = 0; i < 10'000; ++i)
        log.write(line(std::string(1000, 'x')));
    CHECK((::fcntl(writer.get(), F_GETFL) & O_NONBLOCK) == 0);
}

TEST_CASE("A full disk loses lines and holds nobody up") {
    const Descriptor full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
    REQUIRE(full);
    Log log(full.get(), {});
    for (int i = 0; i < 10; ++i)
        log.write(line("lost"));
}

TEST_CASE("Every event of a keeper is a line with its kind, its place and its numbers") {
    for (int kind = 0; kind <= static_cast<int>(KeeperEventKind::keeping_resumed); ++kind) {
        KeeperEvent event;
        event.kind = static_cast<KeeperEventKind>(kind);
        event.topic = "orders";
        event.partition = 2;
        event.subject = "somebody";
        event.count = 3;
        event.from = 100;
        event.to = 200;
        const LogLine made = line_of(event);
        INFO(made.message);
        CHECK(made.event == to_string(event.kind));
        CHECK(made.event != "unknown");
        CHECK(made.topic == "orders");
        CHECK(made.partition == 2U);
        CHECK_FALSE(made.message.empty());
        if (!made.event.starts_with("keeping"))
            CHECK_THAT(made.message, contains("topic 'orders' partition 2"));
    }
    KeeperEvent expired;
    expired.kind = KeeperEventKind::records_expired;
    expired.topic = "t";
    expired.partition = 0;
    expired.from = 5;
    expired.to = 9;
    CHECK(line_of(expired).message == "topic 't' partition 0: retention deleted the records from 5 to 9, 4 offsets");
    KeeperEvent swept;
    swept.kind = KeeperEventKind::leftovers_swept;
    swept.count = 1;
    CHECK(line_of(swept).message == "the broker directory: 1 leftover of killed creations and deletions swept");
}
