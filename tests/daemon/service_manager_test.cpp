// What systemd hears from the daemon, and what its tools say about the unit.
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "daemon/watchdog.hpp"
#include "logged_daemon.hpp"
#include "platform/descriptor.hpp"
#include "support/catch.hpp"
#include "support/scratch_directory.hpp"

using namespace ringmain;
using namespace std::chrono_literals;
using test::Child;
using test::contains;
using test::LoggedDaemon;
using test::ScratchDirectory;

namespace {

namespace fs = std::filesystem;

/// The end of $NOTIFY_SOCKET at which a service manager listens.
class Manager {
public:
    Manager() {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::strncpy(address.sun_path, path().c_str(), sizeof address.sun_path - 1);
        if (::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
            throw std::runtime_error("cannot bind " + path());
    }
    [[nodiscard]] std::string path() const { return (scratch_.path() / "notify").string(); }

    /// The next message but those of the watchdog; empty after a long silence.
    [[nodiscard]] std::string next() {
        for (;;) {
            const std::string message = receive(30s);
            if (message != "WATCHDOG=1")
                return message;
            ++fed_;
        }
    }
    [[nodiscard]] bool is_fed(int times) {
        while (fed_ < times) {
            const std::string message = receive(30s);
            if (message.empty())
                return false;
            fed_ += message == "WATCHDOG=1" ? 1 : 0;
        }
        return true;
    }

private:
    std::string receive(std::chrono::milliseconds timeout) {
        pollfd one{socket_.get(), POLLIN, 0};
        std::array<char, 4096> text{};
        if (::poll(&one, 1, static_cast<int>(timeout.count())) != 1)
            return {};
        const ssize_t count = ::recv(socket_.get(), text.data(), text.size(), 0);
        return count > 0 ? std::string(text.data(), static_cast<std::size_t>(count)) : std::string();
    }

    ScratchDirectory scratch_;
    platform::Descriptor socket_{::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
    int fed_ = 0;
};

std::string with(std::string text, const std::string& from, const std::string& to) {
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
    return text;
}

/// The unit as it is installed, for programs that are there.
fs::path unit_in(const fs::path& directory) {
    std::string text = test::text_in(fs::path(RINGMAIN_SOURCE_DIR) / "packaging/systemd/ringmaind.service.in");
    text = with(text, "@CMAKE_INSTALL_FULL_BINDIR@", fs::path(RINGMAIN_DAEMON_PATH).parent_path());
    text = with(text, "@config_dir@", (fs::path(RINGMAIN_SOURCE_DIR) / "packaging").string());
    text = with(text, "@CMAKE_INSTALL_FULL_DOCDIR@", (fs::path(RINGMAIN_SOURCE_DIR) / "docs").string());
    text = with(text, "@RINGMAIN_BROKER_DIR@", "/dev/shm/ringmain");
    CHECK(text.find('@' + std::string("RINGMAIN")) == std::string::npos);
    const fs::path unit = directory / "ringmaind.service";
    std::ofstream(unit) << text << std::flush;
    return unit;
}

constexpr const char* kAnalyze = "/usr/bin/systemd-analyze";

}  // namespace

TEST_CASE("A service manager is told of readiness, reloading with its time, and stopping") {
    Manager manager;
    LoggedDaemon daemon("", {{"NOTIFY_SOCKET", manager.path()}});
    CHECK(manager.next() == "READY=1\nSTATUS=Keeping " + daemon.broker().string() + ", 0 topics configured");
    CHECK_THAT(daemon.reload("[topics.a]\nrecords = 64\nproducers = 2\npayload = 0\n"), contains("read again"));
    const std::string reloading = manager.next();
    CHECK(reloading.starts_with("RELOADING=1\nMONOTONIC_USEC="));
    CHECK(std::stoull(reloading.substr(reloading.find("USEC=") + 5)) > 0);
    CHECK(manager.next() == "READY=1\nSTATUS=Keeping " + daemon.broker().string() + ", 1 topic configured");
    CHECK_THAT(daemon.reload("nonsense"), contains("stays so"));  // also a refused reload ends
    CHECK(manager.next().starts_with("RELOADING=1"));
    CHECK(manager.next().starts_with("READY=1"));
    CHECK(daemon.end() == 0);
    CHECK(manager.next().starts_with("STOPPING=1"));
}

TEST_CASE("A watchdog is fed while the keeper makes steps, also when there is nothing to do") {
    Manager manager;
    LoggedDaemon daemon("", {{"NOTIFY_SOCKET", manager.path()}, {"WATCHDOG_USEC", "2000000"}});
    CHECK(manager.is_fed(5));
    CHECK(daemon.end() == 0);
}

TEST_CASE("A watchdog is fed only if the keeper made a step since the last time") {
    using daemon::Watchdog;
    const Watchdog::Clock::time_point start{1h};
    Watchdog none({});
    CHECK_FALSE(none.next_look());
    CHECK_FALSE(none.is_to_be_fed(start, 1));
    Watchdog watchdog(std::chrono::microseconds(4s));
    CHECK(watchdog.is_to_be_fed(start, 1));
    CHECK(watchdog.next_look() == start + 1s);
    CHECK_FALSE(watchdog.is_to_be_fed(start + 500ms, 2));
    CHECK(watchdog.is_to_be_fed(start + 1s, 2));
    CHECK_FALSE(watchdog.is_to_be_fed(start + 2s, 2));
    CHECK_FALSE(watchdog.is_to_be_fed(start + 3s, 2));
    CHECK(watchdog.is_to_be_fed(start + 4s, 3));
}

TEST_CASE("systemd finds no fault with the unit") {
    if (!fs::exists(kAnalyze))
        SKIP("systemd-analyze is not installed");
    const ScratchDirectory scratch;
    const fs::path output = scratch.path() / "output";
    const int code =
        test::start(kAnalyze, {"verify", "--man=no", "--recursive-errors=no", unit_in(scratch.path()).string()},
                    {.output = output})
            .wait();
    INFO(test::text_in(output));
    CHECK(code == 0);
    CHECK(test::text_in(output).find("ringmaind.service:") == std::string::npos);
}

TEST_CASE("systemd finds the unit's sandbox tight") {
    if (!fs::exists(kAnalyze))
        SKIP("systemd-analyze is not installed");
    const ScratchDirectory scratch;
    const fs::path output = scratch.path() / "output";
    // in tenths: 2.0 is "OK", from 0 (nothing is allowed) to 10
    const int code =
        test::start(kAnalyze,
                    {"security", "--offline=yes", "--no-pager", "--threshold=20", unit_in(scratch.path()).string()},
                    {.output = output})
            .wait();
    INFO(test::text_in(output));
    CHECK(code == 0);
}

TEST_CASE("sysusers and tmpfiles take the snippets") {
    const ScratchDirectory scratch;
    const fs::path root = scratch.path() / "root";
    fs::create_directories(root / "etc");
    const auto snippet = [&](const char* name) {
        const fs::path file = scratch.path() / (std::string(name) + ".conf");
        std::ofstream(file) << with(test::text_in(fs::path(RINGMAIN_SOURCE_DIR) / "packaging/systemd" /
                                                  (std::string(name) + ".in")),
                                    "@RINGMAIN_BROKER_DIR@", "/srv/ringmain")
                            << std::flush;
        return file.string();
    };
    if (!fs::exists("/usr/bin/systemd-sysusers") || !fs::exists("/usr/bin/systemd-tmpfiles"))
        SKIP("systemd-sysusers or systemd-tmpfiles is not installed");
    if (::geteuid() != 0)
        SKIP("needs root, to give files away");
    const fs::path output = scratch.path() / "output";
    CHECK(test::start("/usr/bin/systemd-sysusers", {"--root=" + root.string(), snippet("ringmain.sysusers")},
                      {.output = output})
              .wait() == 0);
    CHECK_THAT(test::text_in(root / "etc" / "passwd"), contains("ringmain:") && contains("/srv/ringmain"));
    CHECK(test::start("/usr/bin/systemd-tmpfiles",
                      {"--root=" + root.string(), "--create", snippet("ringmain.tmpfiles")}, {.output = output})
              .wait() == 0);
    INFO(test::text_in(output));
    CHECK((fs::status(root / "srv" / "ringmain").permissions() & fs::perms::mask) == fs::perms(02770));
}
