// A daemon that dies, stops, is not there or is there twice: nobody waits for it, and what was asked is done once.
#include <sys/wait.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "api_json.hpp"
#include "broker_impl.hpp"
#include "platform/local_address.hpp"
#include "running_daemon.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"

using namespace ringmain;
using namespace std::chrono_literals;
using platform::Descriptor;
using test::Child;
using test::contains;
using test::eventually;
using test::RunningDaemon;
using test::ScratchDirectory;
using test::small_topic;
using test::thrown_by;

namespace {

namespace fs = std::filesystem;

constexpr uid_t kAlice = 4341;

std::string answer_of(int status, const std::string& body) {
    return "HTTP/1.1 " + std::to_string(status) + " X\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
           body;
}

/// Listens on keeper.sock in a child, answers health requests like a daemon, and leaves all others to `serve`, whose
/// answer it sends if there is one.
class PlayedDaemon {
public:
    using Serve = std::function<std::string(const std::string& request)>;

    PlayedDaemon(const fs::path& broker, const Serve& serve, const char* name = "keeper.sock")
        : socket_(broker / name), child_([this, serve] { return run(serve); }) {
        REQUIRE(eventually([this] { return test::is_healthy(socket_); }));
    }
    [[nodiscard]] Child& process() noexcept { return child_; }

private:
    int run(const Serve& serve) const {
        const platform::LocalAddress address(socket_);
        const Descriptor listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
        if (::bind(listener.get(), address.get(), platform::LocalAddress::size()) != 0 ||
            ::listen(listener.get(), 64) != 0)
            return 1;
        for (;;) {
            const Descriptor connection(::accept(listener.get(), nullptr, nullptr));
            const std::string request = whole_request(connection);
            const bool is_health = request.starts_with("GET /v1/health ");
            test::send_raw(connection, is_health ? answer_of(200, "{}") : serve(request));
        }
    }

    static std::string whole_request(const Descriptor& connection) {
        std::string text;
        char byte = 0;
        std::size_t whole = 0;
        while ((whole == 0 || text.size() < whole) && ::recv(connection.get(), &byte, 1, 0) == 1) {
            text += byte;
            if (whole == 0 && text.ends_with("\r\n\r\n"))
                whole = text.size() + std::stoul(text.substr(text.find("Content-Length: ") + 16));
        }
        return text;
    }

    fs::path socket_;
    Child child_;
};

struct Place {
    ScratchDirectory scratch;
    Broker broker{scratch.broker(), Broker::Mode::open_or_create};
    [[nodiscard]] fs::path socket() const { return scratch.broker() / "keeper.sock"; }
};

std::string body_of(const std::string& request) { return request.substr(request.find("\r\n\r\n") + 4); }

/// What a daemon does for a creation, in the process that calls it.
void make_as_asked(const fs::path& directory, const std::string& request) {
    Broker broker(directory);
    const CreationRequest creation = creation_from_json("t", body_of(request), {});
    (void)broker.impl()->try_create_topic("t", creation.options, {}, creation.id);
}

/// Returns when every thread of it stands.
void stop(RunningDaemon& daemon) {
    daemon.process().signal(SIGSTOP);
    ::waitpid(daemon.process().pid(), nullptr, WUNTRACED);
}

}  // namespace

TEST_CASE("The socket of a killed daemon hinders neither the library nor the next daemon") {
    Place place;
    {
        RunningDaemon first(place.scratch.broker());
        first.process().kill();
    }
    CHECK(fs::exists(place.socket()));
    place.broker.create_topic("alone", small_topic());
    RunningDaemon second(place.scratch.broker());
    place.broker.create_topic("asked", small_topic());
    CHECK_THAT(second.log(), contains("topic 'asked' was created"));
    second.process().signal(SIGTERM);
    CHECK(second.process().wait() == 0);
    CHECK_FALSE(fs::exists(place.socket()));
}

TEST_CASE("A second daemon is refused with the pid of the first, whose socket stays") {
    Place place;
    RunningDaemon first(place.scratch.broker());
    const fs::path output = place.scratch.path() / "second";
    Child second = test::start(RINGMAIN_DAEMON_PATH, {"-d", place.scratch.broker().string()}, {output, 0, {}});
    CHECK(second.wait() == 1);
    CHECK_THAT(test::text_in(output), contains("pid " + std::to_string(first.process().pid())));
    CHECK(test::is_healthy(first.socket()));
}

TEST_CASE("A daemon takes no socket away on which another process listens, and nothing that is no socket") {
    Place place;
    const fs::path output = place.scratch.path() / "output";
    {
        const PlayedDaemon other(place.scratch.broker(), [](const std::string&) { return std::string(); });
        Child daemon = test::start(RINGMAIN_DAEMON_PATH, {"-d", place.scratch.broker().string()}, {output, 0, {}});
        CHECK(daemon.wait() == 1);
        CHECK_THAT(test::text_in(output), contains("another process listens on '" + place.socket().string() + "'"));
        CHECK(test::is_healthy(place.socket()));
    }
    fs::remove(place.socket());
    std::ofstream(place.socket()) << "mine";
    Child daemon = test::start(RINGMAIN_DAEMON_PATH, {"-d", place.scratch.broker().string()}, {output, 0, {}});
    CHECK(daemon.wait() == 1);
    CHECK_THAT(test::text_in(output), contains("keeper.sock' exists and is not a socket"));
    CHECK(test::text_in(place.socket()) == "mine");
    place.broker.create_topic("t", small_topic());  // nobody to ask
}

TEST_CASE("A daemon that ends does not remove the socket of another one") {
    Place place;
    RunningDaemon daemon(place.scratch.broker());
    const PlayedDaemon other(
        place.scratch.path(), [](const std::string&) { return std::string(); }, "other.sock");
    fs::rename(place.scratch.path() / "other.sock", place.socket());
    CHECK(eventually([&] { return daemon.log().find("another process listens on") != std::string::npos; }));
    daemon.process().signal(SIGTERM);
    CHECK(daemon.process().wait() == 0);
    CHECK(test::is_healthy(place.socket()));
}

TEST_CASE("A socket that is removed under a running daemon is made anew, and that is said") {
    Place place;
    const RunningDaemon daemon(place.scratch.broker());
    for (int round = 0; round < 3; ++round) {
        fs::remove(place.socket());
        CHECK(eventually([&] { return test::is_healthy(place.socket()); }));
    }
    place.broker.create_topic("t", small_topic());
    CHECK_THAT(daemon.log(),
               contains("keeper.sock' was removed, and is made anew") && contains("topic 't' was created"));
}

TEST_CASE("A socket whose name was taken is made anew once the name is free, with one line for the loss") {
    Place place;
    const RunningDaemon daemon(place.scratch.broker());
    const auto lines_with = [&](const std::string& text) {
        const std::string log = daemon.log();
        std::size_t count = 0;
        for (std::size_t at = log.find(text); at != std::string::npos; at = log.find(text, at + 1))
            ++count;
        return count;
    };
    {
        PlayedDaemon other(
            place.scratch.path(), [](const std::string&) { return std::string(); }, "other.sock");
        fs::rename(place.scratch.path() / "other.sock", place.socket());
        CHECK(eventually([&] { return lines_with("another process listens on") == 1; }));
        for (const char* const name : {"a", "b", "c"})  // what changes in the directory is no reason to say it again
            std::ofstream(place.scratch.broker() / name) << "x";
        std::this_thread::sleep_for(std::chrono::milliseconds(2'500));  // and neither is time
        CHECK(lines_with("nobody can reach this daemon") == 1);
        CHECK(lines_with("is made anew") == 0);
    }  // it ends, and nothing in the directory changes
    CHECK(eventually([&] { return lines_with("is made anew") == 1; }));
    CHECK(eventually([&] { return test::is_healthy(place.socket()); }));
    CHECK(daemon.ask("GET", "/v1/health").json().value("directory", "") == place.scratch.broker().string());
}

TEST_CASE("A stopped daemon is done without by whoever has the rights") {
    Place place;
    RunningDaemon daemon(place.scratch.broker());
    stop(daemon);
    place.broker.create_topic("t", small_topic());
    place.broker.delete_topic("t");
    place.broker.ensure_topic("u", small_topic());
    daemon.process().signal(SIGCONT);
    CHECK(eventually([&] { return test::is_healthy(place.socket()); }));
    CHECK(place.broker.list_topics() == std::vector<std::string>{"u"});
    CHECK(daemon.log().find("was created") == std::string::npos);
}

TEST_CASE("Who lacks the rights is told the pid of the daemon that does not answer") {
    if (::geteuid() != 0)
        SKIP("needs root, to become another user");
    Place place;
    RunningDaemon daemon(place.scratch.broker(), "[socket]\nadmin_group = 4341\n");
    stop(daemon);
    const std::string expected = "(pid " + std::to_string(daemon.process().pid()) + ") does not answer";
    CHECK(test::run_as(kAlice, {}, [&] {
              Broker broker(place.scratch.broker());
              const test::Thrown creation = thrown_by([&] { return broker.create_topic("t", small_topic()); });
              return creation.code == ErrorCode::not_ready && creation.text.find(expected) != std::string::npos &&
                             creation.text.find("/clients'") != std::string::npos
                         ? 0
                         : 1;
          }) == 0);
    daemon.process().signal(SIGCONT);
    CHECK(test::run_as(kAlice, {}, [&] {
              Broker(place.scratch.broker()).create_topic("t", small_topic());
              return 0;
          }) == 0);
}

TEST_CASE("A daemon that stops or is killed in the middle of a creation keeps nobody from having the topic once") {
    for (const int signal : {SIGKILL, SIGSTOP}) {
        Place place;
        RunningDaemon daemon(place.scratch.broker());
        TopicOptions options;
        options.partitions = 24;
        std::thread hand([&] {
            (void)eventually([&] { return !fs::is_empty(place.scratch.broker() / "staging"); });
            daemon.process().signal(signal);
        });
        const TopicDescription made = place.broker.create_topic("big", options);
        hand.join();
        CHECK(made.options.partitions == 24);
        CHECK(place.broker.list_topics() == std::vector<std::string>{"big"});
        daemon.process().signal(SIGCONT);
        if (signal == SIGSTOP)
            CHECK(eventually([&] { return fs::is_empty(place.scratch.broker() / "staging"); }));
        CHECK(place.broker.describe_topic("big").id == made.id);
        CHECK(place.broker.verify().damage.empty());
        place.broker.delete_topic("big");
    }
}

TEST_CASE("A creation whose answer is lost is known by its id") {
    Place place;
    const fs::path directory = place.scratch.broker();
    const PlayedDaemon daemon(directory, [directory](const std::string& request) -> std::string {
        make_as_asked(directory, request);
        ::_exit(0);  // with the request open
    });
    const TopicDescription made = place.broker.create_topic("t", small_topic());
    CHECK(made.id == place.broker.describe_topic("t").id);
}

TEST_CASE("A creation whose daemon died before it did anything is done here") {
    Place place;
    const PlayedDaemon daemon(place.scratch.broker(), [](const std::string&) -> std::string { ::_exit(0); });
    place.broker.create_topic("t", small_topic());
    CHECK(place.broker.list_topics().size() == 1);
}

TEST_CASE("Who is overtaken while an answer is lost is told that the topic exists") {
    Place place;
    const fs::path directory = place.scratch.broker();
    const PlayedDaemon daemon(directory, [directory](const std::string&) -> std::string {
        (void)Broker(directory).impl()->try_create_topic("t", small_topic());
        ::_exit(0);
    });
    CHECK(thrown_by([&] { return place.broker.create_topic("t", small_topic()); }).code == ErrorCode::already_exists);
}

TEST_CASE("A deletion whose answer is lost is done once: a topic that has the name by then stays") {
    Place place;
    place.broker.create_topic("t", small_topic());
    const fs::path directory = place.scratch.broker();
    const PlayedDaemon daemon(directory, [directory](const std::string&) -> std::string {
        Broker other(directory);
        other.impl()->delete_topic("t");
        (void)other.impl()->try_create_topic("t", small_topic());
        ::_exit(0);
    });
    const TopicId before = place.broker.describe_topic("t").id;
    place.broker.delete_topic("t");
    CHECK(place.broker.describe_topic("t").id != before);
}

TEST_CASE("Answers that no daemon gives are errors that show them, or are done without") {
    Place place;
    const auto with_answer = [&](const std::string& answer) {
        fs::remove(place.socket());
        const PlayedDaemon daemon(place.scratch.broker(), [answer](const std::string&) { return answer; });
        return thrown_by([&] { return place.broker.create_topic("t", small_topic()); });
    };
    const test::Thrown text = with_answer(answer_of(500, "no JSON"));
    CHECK(text.code == ErrorCode::io);
    CHECK_THAT(text.text, contains("no JSON") && contains("HTTP status 500"));
    const test::Thrown other = with_answer(answer_of(500, R"({"code":"new_code","object":"o","message":"m"})"));
    CHECK(other.code == ErrorCode::io);
    const test::Thrown known =
        with_answer(answer_of(507, R"({"code":"no_space","object":"o","message":"m: x","system_error":28})"));
    CHECK(known.code == ErrorCode::no_space);
    CHECK(known.object == "o");
    CHECK_THAT(known.text, contains("errno 28"));
    for (const std::string& lost :
         {std::string("SSH-2.0-OpenSSH\r\n\r\n"), std::string("HTTP/1.1 200 OK\r\n\r\n"),
          std::string("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort"), std::string()}) {
        CHECK(with_answer(lost).code == ErrorCode::not_ready);  // asked again and again, and lost each time
    }
    CHECK(place.broker.list_topics().empty());
}

TEST_CASE("A creation that its asker stops is called off at the daemon") {
    Place place;
    const RunningDaemon daemon(place.scratch.broker());
    TopicOptions options;
    options.partitions = 24;
    const test::Thrown thrown =
        thrown_by([&] { return place.broker.create_topic("big", options, [] { return true; }); });
    CHECK((!thrown.code || thrown.code == ErrorCode::interrupted));
    CHECK(place.broker.list_topics().size() == (thrown.code ? 0 : 1));
    CHECK(fs::is_empty(place.scratch.broker() / "staging"));
}

TEST_CASE("A broker directory with a long path has a socket, too") {
    ScratchDirectory scratch;
    fs::path parent = scratch.path();
    for (int i = 0; i < 3; ++i) {
        parent /= std::string(60, 'd');
        fs::create_directory(parent);
    }
    Broker broker(parent / "broker", Broker::Mode::open_or_create);
    const RunningDaemon daemon(parent / "broker");
    broker.create_topic("t", small_topic());
    CHECK_THAT(daemon.log(), contains("topic 't' was created"));
}
