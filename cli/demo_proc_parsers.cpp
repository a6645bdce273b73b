// The layouts of the /proc files that the demo samples. What does not look as expected is left out, never guessed at.
#include <array>
#include <charconv>

#include "demo_telemetry.hpp"

namespace ringmain::cli::demo {

namespace {

constexpr std::array<std::string_view, 10> kCpuTimes = {"user", "nice",    "system", "idle",  "iowait",
                                                        "irq",  "softirq", "steal",  "guest", "guest_nice"};
constexpr std::array<std::string_view, 17> kDiskCounters = {
    "reads",           "reads_merged",      "sectors_read", "read_ms", "writes",         "writes_merged",
    "sectors_written", "write_ms",          "in_flight",    "io_ms",   "weighted_io_ms", "discards",
    "discards_merged", "sectors_discarded", "discard_ms",   "flushes", "flush_ms"};
constexpr std::array<std::string_view, 16> kNetCounters = {
    "rx_bytes", "rx_packets", "rx_errs", "rx_drop", "rx_fifo", "rx_frame", "rx_compressed", "rx_multicast",
    "tx_bytes", "tx_packets", "tx_errs", "tx_drop", "tx_fifo", "tx_colls", "tx_carrier",    "tx_compressed"};

/// Takes the next line off the text; false at the end.
bool take_line(std::string_view& text, std::string_view& line) noexcept {
    if (text.empty())
        return false;
    const std::size_t end = text.find('\n');
    line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    return true;
}

/// Takes the next word off the line; empty at the end.
std::string_view take_word(std::string_view& line) noexcept {
    const std::size_t begin = line.find_first_not_of(" \t");
    if (begin == std::string_view::npos)
        return line = {};
    const std::size_t end = line.find_first_of(" \t", begin);
    const std::string_view word = line.substr(begin, end == std::string_view::npos ? end : end - begin);
    line.remove_prefix(end == std::string_view::npos ? line.size() : end);
    return word;
}

std::string_view without_colon(std::string_view word) noexcept {
    if (!word.empty() && word.back() == ':')
        word.remove_suffix(1);
    return word;
}

bool is_number(std::string_view word) noexcept {
    double number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    return error == std::errc() && end == word.data() + word.size();
}

template <std::size_t kCount>
void add_columns(std::string_view line, const std::array<std::string_view, kCount>& names, std::string_view file,
                 std::string_view row, Sweep& sweep) {
    for (const std::string_view name : names) {
        const std::string_view word = take_word(line);
        if (!is_number(word))
            return;
        sweep.add(word, file, row, name);
    }
}

}  // namespace

void parse_name_value(std::string_view file, std::string_view text, Sweep& sweep) {
    std::string_view line;
    while (take_line(text, line)) {
        const std::string_view name = without_colon(take_word(line));
        const std::string_view value = take_word(line);
        if (!name.empty() && is_number(value))
            sweep.add(value, file, name);
    }
}

void parse_per_cpu(std::string_view file, std::string_view text, Sweep& sweep) {
    std::string_view header;
    if (!take_line(text, header))
        return;
    std::string_view line;
    while (take_line(text, line)) {
        const std::string_view row = without_colon(take_word(line));
        std::string_view names = header;
        // Rows without one count per processor exist (ERR, MIS): their only count goes to the first name.
        for (std::string_view cpu = take_word(names); !cpu.empty(); cpu = take_word(names)) {
            const std::string_view count = take_word(line);
            if (!is_number(count))
                break;
            sweep.add(count, file, row, cpu);
        }
    }
}

void parse_stat(std::string_view file, std::string_view text, Sweep& sweep) {
    std::string_view line;
    while (take_line(text, line)) {
        const std::string_view row = take_word(line);
        if (row.starts_with("cpu")) {
            add_columns(line, kCpuTimes, file, row, sweep);
        } else if (const std::string_view value = take_word(line); is_number(value)) {
            sweep.add(value, file, row);  // of intr and softirq the total: the parts have files of their own
        }
    }
}

void parse_diskstats(std::string_view file, std::string_view text, Sweep& sweep) {
    std::string_view line;
    while (take_line(text, line)) {
        take_word(line);
        take_word(line);
        const std::string_view disk = take_word(line);
        if (!disk.empty())
            add_columns(line, kDiskCounters, file, disk, sweep);
    }
}

void parse_net_dev(std::string_view file, std::string_view text, Sweep& sweep) {
    std::string_view line;
    while (take_line(text, line)) {
        const std::size_t colon = line.rfind(':');  // the name of an alias has a colon of its own
        if (colon == std::string_view::npos)
            continue;
        std::string_view name = line.substr(0, colon);
        add_columns(line.substr(colon + 1), kNetCounters, file, take_word(name), sweep);
    }
}

void parse_line_pairs(std::string_view file, std::string_view text, Sweep& sweep) {
    std::string_view names;
    std::string_view values;
    while (take_line(text, names) && take_line(text, values)) {
        const std::string_view group = take_word(names);
        if (group.empty() || take_word(values) != group)
            return;
        for (std::string_view name = take_word(names); !name.empty(); name = take_word(names)) {
            const std::string_view value = take_word(values);
            if (is_number(value))
                sweep.add(value, file, without_colon(group), name);
        }
    }
}

void parse_pressure(std::string_view file, std::string_view text, Sweep& sweep) {
    std::string_view line;
    while (take_line(text, line)) {
        const std::string_view row = take_word(line);
        for (std::string_view word = take_word(line); !word.empty(); word = take_word(line)) {
            const std::size_t equals = word.find('=');
            if (equals == std::string_view::npos || !is_number(word.substr(equals + 1)))
                continue;
            sweep.add(word.substr(equals + 1), file, row, word.substr(0, equals));
        }
    }
}

void parse_single_line(std::string_view file, std::string_view text, Sweep& sweep) {
    std::string_view line;
    if (!take_line(text, line))
        return;
    for (char column = '1'; column <= '9'; ++column) {
        std::string_view word = take_word(line);
        const std::size_t slash = word.find('/');  // loadavg: running/total
        if (slash != std::string_view::npos && is_number(word.substr(slash + 1))) {
            sweep.add(word.substr(slash + 1), file, "tasks");
            word = word.substr(0, slash);
        }
        if (!is_number(word))
            return;
        sweep.add(word, file, std::string_view(&column, 1));
    }
}

}  // namespace ringmain::cli::demo
