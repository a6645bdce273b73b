// Signal handlers of the command.
#include "signals.hpp"

#include <csignal>
#include <initializer_list>

namespace ringmain::cli {

namespace {

volatile std::sig_atomic_t g_stop_requested = 0;

void request_stop(int) { g_stop_requested = 1; }

}  // namespace

void catch_stop_signals() {
    struct sigaction action {};
    action.sa_handler = request_stop;
    action.sa_flags = static_cast<int>(SA_RESETHAND);  // no SA_RESTART: a blocked read has to return
    ::sigaction(SIGINT, &action, nullptr);
    ::sigaction(SIGTERM, &action, nullptr);
    struct sigaction hangup {};
    ::sigaction(SIGHUP, nullptr, &hangup);
    if (hangup.sa_handler != SIG_IGN)  // nohup
        ::sigaction(SIGHUP, &action, nullptr);
}

void hold_stop_signals() {
    sigset_t signals;
    sigemptyset(&signals);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP})
        sigaddset(&signals, signal);
    ::sigprocmask(SIG_BLOCK, &signals, nullptr);
}

bool stop_requested() noexcept { return g_stop_requested != 0; }

void ignore_broken_pipes() {
    struct sigaction action {};
    action.sa_handler = SIG_IGN;
    ::sigaction(SIGPIPE, &action, nullptr);
}

}  // namespace ringmain::cli
