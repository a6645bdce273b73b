// ringmaind: runs the keeper for one broker directory until it is told to stop.
#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <stop_token>
#include <thread>

#include "cli/standard_streams.hpp"
#include "ringmain/broker.hpp"
#include "ringmain/keeper.hpp"

namespace {

constexpr int kExitGood = 0;
constexpr int kExitFailed = 1;
constexpr int kExitUsage = 2;

/// The signals that end the daemon, blocked in all threads so that one place can wait for them.
sigset_t block_stop_signals() {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigprocmask(SIG_BLOCK, &signals, nullptr);
    return signals;
}

void keep(const std::filesystem::path& directory, std::chrono::milliseconds interval) {
    const sigset_t signals = block_stop_signals();
    const ringmain::Broker broker(directory, ringmain::Broker::Mode::open_or_create);
    if (broker.is_new())
        std::fprintf(stderr, "ringmaind: '%s' is a new broker directory\n", directory.c_str());
    ringmain::Keeper keeper(broker);
    std::printf("ringmaind: keeping %s\n", directory.c_str());
    std::fflush(stdout);
    std::jthread worker([&](std::stop_token stop) { keeper.run(stop, interval); });
    int signal = 0;
    sigwait(&signals, &signal);
    worker.request_stop();
    worker.join();
    std::printf("ringmaind: stopped by signal %d\n", signal);
}

}  // namespace

int main(int argc, char** argv) {
    ringmain::cli::occupy_closed_streams();
    CLI::App app{"Keeps a Ringmain broker directory: reaps dead producers and gates, closes tickets that nobody else closed,\n"
                 "releases quarantined cells, sweeps what killed creations left. Producers and consumers work without it.",
                 "ringmaind"};
    app.footer("The directory is made a broker if it is absent (its parent must exist) or empty; that is said on stderr.\n"
               "Needs the right to write the broker's files.\n\n"
               "Example:\n  ringmaind -d /dev/shm/ringmain");
    std::filesystem::path directory = ringmain::default_broker_directory();
    unsigned interval_ms = 10;
    app.add_option("-d,--directory", directory, "Broker directory")->envname("RINGMAIN_DIR")->capture_default_str();
    app.add_option("--interval-ms", interval_ms, "Pause between steps while there is nothing to do")
        ->check(CLI::Range(1U, 1'000U))
        ->capture_default_str();
    try {
        app.parse(argc, argv);
    } catch (const CLI::Success& help) {
        return app.exit(help);
    } catch (const CLI::ParseError& error) {
        std::fprintf(stderr, "ringmaind: %s\nTry 'ringmaind --help'.\n", error.what());
        return kExitUsage;
    }
    try {
        keep(directory, std::chrono::milliseconds(interval_ms));
    } catch (const std::exception& error) {
        std::fprintf(stderr, "ringmaind: %s\n", error.what());
        return kExitFailed;
    }
    return kExitGood;
}
