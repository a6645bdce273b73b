// The machine's own telemetry: every counter of a handful of /proc files, with a name for each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ringmain::cli::demo {

/// One counter at one moment.
struct Sample {
    std::string_view key;    ///< "file/row/column", e.g. "interrupts/LOC/cpu0" or "meminfo/MemFree".
    std::string_view value;  ///< As the kernel prints it.
};

/// The samples of one sweep over files, in memory that is kept from sweep to sweep.
class Sweep {
public:
    void clear() noexcept;
    void add(std::string_view value, std::string_view file, std::string_view row, std::string_view column = {});
    [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
    [[nodiscard]] Sample operator[](std::size_t index) const noexcept;

private:
    struct Entry {
        std::size_t begin;
        std::size_t key_bytes;
        std::size_t value_bytes;
    };
    std::string text_;
    std::vector<Entry> entries_;
};

/// How a file is laid out, and so how its counters are named.
using TelemetryParser = void (*)(std::string_view file, std::string_view text, Sweep& sweep);

/// A file below /proc.
struct TelemetryFile {
    const char* name;  ///< Relative to /proc; the first part of its keys.
    TelemetryParser parse;
};

/// "name value" or "name: value unit" per line: meminfo, vmstat.
void parse_name_value(std::string_view file, std::string_view text, Sweep& sweep);
/// A header with the names of the processors, then "row: count count … text": interrupts, softirqs.
void parse_per_cpu(std::string_view file, std::string_view text, Sweep& sweep);
/// /proc/stat: processors with ten times each, then totals.
void parse_stat(std::string_view file, std::string_view text, Sweep& sweep);
/// /proc/diskstats: "major minor name" and up to 17 counters.
void parse_diskstats(std::string_view file, std::string_view text, Sweep& sweep);
/// /proc/net/dev: "interface: " and 16 counters.
void parse_net_dev(std::string_view file, std::string_view text, Sweep& sweep);
/// Pairs of lines, "Group: names" and "Group: values": net/snmp, net/netstat.
void parse_line_pairs(std::string_view file, std::string_view text, Sweep& sweep);
/// "some avg10=0.00 … total=0": pressure/*.
void parse_pressure(std::string_view file, std::string_view text, Sweep& sweep);
/// One line of numbers: loadavg, uptime.
void parse_single_line(std::string_view file, std::string_view text, Sweep& sweep);

/// The files that this machine lets us read.
[[nodiscard]] std::vector<TelemetryFile> readable_telemetry_files();

/// Files kept open and read again and again.
class TelemetryReader {
public:
    /// Throws std::system_error naming the path.
    explicit TelemetryReader(std::vector<TelemetryFile> files);
    ~TelemetryReader();
    TelemetryReader(const TelemetryReader&) = delete;
    TelemetryReader& operator=(const TelemetryReader&) = delete;

    /// Reads all files and adds their counters.
    void sample(Sweep& sweep);

private:
    std::string_view read_whole(std::size_t index);

    std::vector<TelemetryFile> files_;
    std::vector<int> descriptors_;
    std::string buffer_;
};

}  // namespace ringmain::cli::demo
