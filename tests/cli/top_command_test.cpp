// `ringmain top` on a terminal of a test's own, and without one.
#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>
#include <utmp.h>

#include <array>
#include <chrono>
#include <csignal>
#include <string>
#include <thread>

#include "cli_process.hpp"
#include "support/catch.hpp"

namespace ringmain::test {

namespace {

using Clock = std::chrono::steady_clock;

/// Wide: a program that takes so long hangs.
constexpr std::chrono::seconds kWatchdog{60};

/// The command on a terminal. Killed and reaped when the object goes.
class TerminalSession {
public:
    TerminalSession(const std::vector<std::string>& arguments, unsigned short rows, unsigned short columns) {
        winsize size{rows, columns, 0, 0};
        REQUIRE(::openpty(&ours_, &theirs_, nullptr, nullptr, &size) == 0);
        REQUIRE(::tcgetattr(theirs_, &before_) == 0);
        std::vector<const char*> words{RINGMAIN_CLI_PATH};
        for (const std::string& argument : arguments)
            words.push_back(argument.c_str());
        words.push_back(nullptr);
        pid_ = ::fork();
        REQUIRE(pid_ >= 0);
        if (pid_ == 0) {
            ::close(ours_);
            ::login_tty(theirs_);
            ::execv(RINGMAIN_CLI_PATH, const_cast<char* const*>(words.data()));
            ::_exit(127);
        }
    }
    TerminalSession(const TerminalSession&) = delete;
    TerminalSession& operator=(const TerminalSession&) = delete;
    ~TerminalSession() {
        if (pid_ > 0) {
            ::kill(pid_, SIGKILL);
            ::waitpid(pid_, nullptr, 0);
        }
        ::close(ours_);
        ::close(theirs_);
    }

    void type(std::string_view keys) const {
        REQUIRE(::write(ours_, keys.data(), keys.size()) == static_cast<ssize_t>(keys.size()));
    }
    void send_signal(int number) const { ::kill(pid_, number); }
    void resize(unsigned short rows, unsigned short columns) const {
        const winsize size{rows, columns, 0, 0};
        REQUIRE(::ioctl(ours_, TIOCSWINSZ, &size) == 0);
    }

    /// Waits until `part` has been shown since the last `forget`.
    [[nodiscard]] bool shows(std::string_view part) {
        const auto deadline = Clock::now() + kWatchdog;
        while (shown_.find(part) == std::string::npos && Clock::now() < deadline)
            pump();
        return shown_.find(part) != std::string::npos;
    }
    void forget() {
        pump();
        shown_.clear();
    }

    /// Its exit code; -1 if a signal ended it or it does not end.
    [[nodiscard]] int end() {
        const auto deadline = Clock::now() + kWatchdog;
        int status = 0;
        while (::waitpid(pid_, &status, WNOHANG) == 0) {
            if (Clock::now() > deadline)
                return -1;
            pump();
        }
        pid_ = -1;
        pump();
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }

    /// The terminal is as it was before.
    [[nodiscard]] bool is_restored() const {
        termios now{};
        if (::tcgetattr(theirs_, &now) != 0)
            return false;
        const std::size_t left = shown_.rfind("\x1b[?1049l");
        const std::size_t entered = shown_.rfind("\x1b[?1049h");
        const bool screen = left != std::string::npos && (entered == std::string::npos || entered < left);
        return screen && shown_.find("\x1b[?25h") != std::string::npos && now.c_lflag == before_.c_lflag &&
               now.c_cc[VSUSP] == before_.c_cc[VSUSP];
    }

private:
    void pump() {
        pollfd ready{ours_, POLLIN, 0};
        if (::poll(&ready, 1, 20) <= 0)
            return;
        std::array<char, 1 << 16> chunk;
        const ssize_t bytes = ::read(ours_, chunk.data(), chunk.size());
        if (bytes > 0)
            shown_.append(chunk.data(), static_cast<std::size_t>(bytes));
    }

    int ours_ = -1;
    int theirs_ = -1;
    termios before_{};
    pid_t pid_ = -1;
    std::string shown_;
};

}  // namespace

TEST_CASE("Top shows topics, groups, queues, clients and help by keys, and gives the terminal back at q") {
    const CliBroker broker;
    broker.create_topic("trades");
    REQUIRE(broker.run({"produce", "trades"}, "a\nb\n").exit_code == 0);
    REQUIRE(broker.run({"consume", "trades", "-g", "billing", "-c", "1"}).exit_code == 0);
    REQUIRE(broker.run({"queue", "create", "thumbnails", "-t", "trades"}).exit_code == 0);
    CliProcess producer(broker.in_directory({"produce", "trades"}));
    producer.write_input("c\n");
    TerminalSession top(broker.in_directory({"top", "--interval", "0.1"}), 24, 80);
    CHECK(top.shows("\x1b[?1049h"));
    CHECK(top.shows("trades"));
    CHECK(top.shows("RECORDS/s"));
    CHECK(top.shows("sort: rate"));
    top.type("p");
    CHECK(top.shows("GAPS/s"));
    top.type("g");
    CHECK(top.shows("billing"));
    top.type("s");
    CHECK(top.shows("sort: lag"));
    top.type("w");
    CHECK(top.shows("thumbnails"));
    top.type("c");
    CHECK(top.shows("COMMAND"));
    top.type("?");
    CHECK(top.shows("this help"));
    top.forget();
    top.type("t");
    CHECK(top.shows("PARTS"));
    top.type("\x1b[B\x1b[6~\x1b[A \x1b[F");
    top.type("q");
    CHECK(top.end() == 0);
    CHECK(top.is_restored());
}

TEST_CASE("Top draws anew when the terminal changes its size") {
    const CliBroker broker;
    broker.create_topic("trades");
    TerminalSession top(broker.in_directory({"top", "--interval", "3600"}), 24, 80);
    CHECK(top.shows("q quit"));
    top.forget();
    top.resize(10, 30);
    CHECK(top.shows("g groups w q~"));  // cut at 30 columns
    top.type("q");
    CHECK(top.end() == 0);
}

TEST_CASE("Top gives the terminal back when it is ended by a signal or by ^C") {
    const CliBroker broker;
    broker.create_topic("trades");
    for (const int number : {SIGTERM, SIGHUP, SIGINT, 0}) {
        TerminalSession top(broker.in_directory({"top"}), 24, 80);
        CHECK(top.shows("trades"));
        if (number == 0)
            top.type("\x03");
        else
            top.send_signal(number);
        CHECK(top.end() == 0);
        CHECK(top.is_restored());
    }
}

TEST_CASE("Top without a terminal prints plain frames, one with --once") {
    const CliBroker broker;
    broker.create_topic("trades");
    const CliResult once = broker.run({"top", "--once", "--interval", "0.1", "--sort", "name"});
    CHECK(once.exit_code == 0);
    CHECK_THAT(once.output, contains(broker.directory().string()) && contains("TOPIC") && contains("trades"));
    CHECK(once.output.find('\x1b') == std::string::npos);

    CliProcess top(broker.in_directory({"top", "--interval", "0.1"}));
    CHECK(top.wait_for_output("trades"));
    broker.create_topic("later");
    CHECK(top.wait_for_output("later"));
    top.send_signal(SIGTERM);
    CHECK(top.finish().exit_code == 0);
}

TEST_CASE("Top refuses intervals and orders that cannot be") {
    const CliBroker broker;
    broker.create_topic("trades");
    for (const std::string interval : {"0", "0.05", "3601", "-1", "x", "1s", "nan"}) {
        const CliResult result = broker.run({"top", "--once", "--interval=" + interval});
        CHECK(result.exit_code == 2);
        CHECK_THAT(result.errors, contains("--interval: '" + interval + "'") && contains("0.1 to 3600"));
    }
    CHECK_THAT(broker.run({"top", "--sort", "size"}).errors, contains("--sort: 'size' is none of lag, rate and name"));
}

}  // namespace ringmain::test
