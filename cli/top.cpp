// `ringmain top`: a live view of a broker.
#include <fmt/core.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "commands.hpp"
#include "context.hpp"
#include "errors.hpp"
#include "output.hpp"
#include "signals.hpp"
#include "terminal.hpp"
#include "top_frame.hpp"

namespace ringmain::cli {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kTick{100};  // how long a signal may go unnoticed
constexpr std::int64_t kIntervalMinMs = 100;
constexpr std::int64_t kIntervalMaxMs = 3'600'000;

struct TopArguments {
    std::string interval = "1";
    std::string sort = "rate";
    bool once = false;
};

milliseconds parse_interval(const std::string& text) {
    double seconds = 0;
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), seconds, std::chars_format::fixed);
    if (error != std::errc() || end != text.data() + text.size() ||
        !(seconds * 1e3 >= kIntervalMinMs && seconds * 1e3 <= kIntervalMaxMs))
        throw UsageError(fmt::format("--interval: '{}' is no number of seconds from 0.1 to 3600", text));
    return milliseconds(static_cast<std::int64_t>(seconds * 1e3));
}

TopSort parse_sort(const std::string& text) {
    for (const TopSort sort : {TopSort::rate, TopSort::lag, TopSort::name}) {
        if (text == to_string(sort))
            return sort;
    }
    throw UsageError(fmt::format("--sort: '{}' is none of lag, rate and name", text));
}

TopSort next(TopSort sort) noexcept { return static_cast<TopSort>((static_cast<int>(sort) + 1) % 3); }

StatsOptions cheap_look() {
    StatsOptions options;
    options.bytes_records_max = 0;
    options.lag.bytes_records_max = 0;
    return options;
}

volatile sig_atomic_t g_size_changed = 0;
void note_size(int) { g_size_changed = 1; }

void catch_size_changes() {
    struct sigaction action {};
    action.sa_handler = note_size;
    ::sigaction(SIGWINCH, &action, nullptr);
}

class Screen {
public:
    Screen(StatsReader& reader, milliseconds interval, TopSort sort)
        : reader_(reader),
          interval_(interval),
          terminal_(STDIN_FILENO, STDOUT_FILENO),
          before_(reader.take(cheap_look())),
          now_(before_) {
        state_.sort = sort;
    }

    void run() {
        auto next_look = Clock::now() + interval_;
        draw_now();
        while (!quit_ && !stop_requested()) {
            const auto left = std::chrono::duration_cast<milliseconds>(next_look - Clock::now());
            for (const KeyPress& key :
                 terminal_.wait_for_keys(static_cast<int>(std::clamp(left, milliseconds(0), kTick).count())))
                press(key);
            if (look_at_once_ || Clock::now() >= next_look) {
                look();
                next_look = Clock::now() + interval_;
            }
            if (redraw_ || g_size_changed != 0)
                draw_now();
        }
    }

private:
    void look() {
        look_at_once_ = false;
        before_ = std::move(now_);
        now_ = reader_.take(cheap_look());
        redraw_ = true;
    }

    void draw_now() {
        redraw_ = false;
        g_size_changed = 0;
        terminal_.show(draw(before_, now_, terminal_.size(), state_));
    }

    void scroll(std::int64_t by) {
        const auto most = static_cast<std::int64_t>(scroll_max(before_, now_, terminal_.size(), state_));
        state_.scroll =
            static_cast<std::size_t>(std::clamp<std::int64_t>(static_cast<std::int64_t>(state_.scroll) + by, 0, most));
    }

    void show(TopView view) {
        state_.view = view;
        state_.scroll = 0;
    }

    void press(const KeyPress& key) {
        redraw_ = true;
        const auto page = static_cast<std::int64_t>(table_rows(terminal_.size()));
        constexpr std::int64_t kFar = INT32_MAX;
        switch (key.key) {
            case Key::up:
                return scroll(-1);
            case Key::down:
                return scroll(1);
            case Key::page_up:
                return scroll(-page);
            case Key::page_down:
                return scroll(page);
            case Key::home:
                return scroll(-kFar);
            case Key::end:
                return scroll(kFar);
            case Key::other:
                return press(key.character);
        }
    }

    void press(char character) {
        switch (character) {
            case 'q':
                quit_ = true;
                return;
            case 't':
                return show(TopView::topics);
            case 'p':
                return show(TopView::partitions);
            case 'g':
                return show(TopView::groups);
            case 'w':
                return show(TopView::queues);
            case 'c':
                return show(TopView::clients);
            case '?':
                return show(state_.view == TopView::help ? TopView::topics : TopView::help);
            case 's':
                state_.sort = next(state_.sort);
                return;
            case ' ':
                look_at_once_ = true;
                return;
            default:
                return;
        }
    }

    StatsReader& reader_;
    milliseconds interval_;
    Terminal terminal_;
    BrokerStats before_;
    BrokerStats now_;
    TopState state_;
    bool redraw_ = false;
    bool look_at_once_ = false;
    bool quit_ = false;
};

void wait(milliseconds interval) {
    const auto deadline = Clock::now() + interval;
    while (!stop_requested() && Clock::now() < deadline)
        std::this_thread::sleep_for(
            std::min(kTick, std::chrono::duration_cast<milliseconds>(deadline - Clock::now()) + milliseconds(1)));
}

void print_frames(StatsReader& reader, milliseconds interval, TopSort sort, bool once) {
    BrokerStats before = reader.take(cheap_look());
    for (bool first = true; !stop_requested(); first = false) {
        wait(interval);
        if (stop_requested())
            return;
        BrokerStats now = reader.take(cheap_look());
        print((first ? "" : "\n") + frame_to_text(before, now, sort));
        if (once)
            return;
        before = std::move(now);
    }
}

void run_top(const CLI::App& app, const TopArguments& arguments) {
    const milliseconds interval = parse_interval(arguments.interval);
    const TopSort sort = parse_sort(arguments.sort);
    StatsReader reader(open_broker(app));
    catch_stop_signals();
    if (arguments.once || ::isatty(STDOUT_FILENO) == 0)
        return print_frames(reader, interval, sort, arguments.once);
    catch_size_changes();
    Screen(reader, interval, sort).run();
}

}  // namespace

void add_top(CLI::App& app) {
    CLI::App* top = app.add_subcommand("top", "Watch topics, groups and clients: rates, lags, stalls");
    const auto arguments = std::make_shared<TopArguments>();
    top->add_option("--interval", arguments->interval, "Seconds between two looks, 0.1 to 3600 (default 1)")
        ->type_name("S");
    top->add_flag("--once", arguments->once, "Print one look after one interval, and end");
    top->add_option("--sort", arguments->sort, "The largest first: rate (default) or lag; or by name")
        ->type_name("lag|rate|name");
    top->footer(
        "On a terminal a live view: t topics, p partitions, g groups, c clients, s sorts, arrows and Page Up/Down "
        "scroll, ? help, q "
        "quits. Otherwise\n"
        "plain text, again after each interval. Needs no daemon. A stall is a ticket that stays open, a group that is "
        "behind and does not\n"
        "commit, or a client that is stopped; 'ringmain doctor' says what to do about it.\n\n"
        "Examples:\n  ringmain top\n  ringmain top --once --interval 5 --sort lag");
    top->callback([top, arguments] { run_top(*top, *arguments); });
}

}  // namespace ringmain::cli
