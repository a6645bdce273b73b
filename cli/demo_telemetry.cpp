// Opening and reading /proc files; their layouts are in demo_proc_parsers.cpp.
#include "demo_telemetry.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

namespace ringmain::cli::demo {

namespace {

constexpr std::size_t kReadBytesMin = 1 << 16;

// Neighbours cost about the same to read, so dealing the list out in turn gives fair shares.
constexpr std::array kFiles = {
    TelemetryFile{"stat", parse_stat},
    TelemetryFile{"interrupts", parse_per_cpu},
    TelemetryFile{"vmstat", parse_name_value},
    TelemetryFile{"net/netstat", parse_line_pairs},
    TelemetryFile{"meminfo", parse_name_value},
    TelemetryFile{"net/snmp", parse_line_pairs},
    TelemetryFile{"diskstats", parse_diskstats},
    TelemetryFile{"net/dev", parse_net_dev},
    TelemetryFile{"softirqs", parse_per_cpu},
    TelemetryFile{"loadavg", parse_single_line},
    TelemetryFile{"pressure/cpu", parse_pressure},
    TelemetryFile{"pressure/io", parse_pressure},
    TelemetryFile{"pressure/memory", parse_pressure},
    TelemetryFile{"uptime", parse_single_line},
};

int open_below_proc(const char* name) noexcept {
    return ::open((std::string("/proc/") + name).c_str(), O_RDONLY | O_CLOEXEC);
}

}  // namespace

void Sweep::clear() noexcept {
    text_.clear();
    entries_.clear();
}

void Sweep::add(std::string_view value, std::string_view file, std::string_view row, std::string_view column) {
    const std::size_t begin = text_.size();
    text_.append(file).append(1, '/').append(row);
    if (!column.empty())
        text_.append(1, '/').append(column);
    const std::size_t key_bytes = text_.size() - begin;
    text_.append(value);
    entries_.push_back({begin, key_bytes, value.size()});
}

Sample Sweep::operator[](std::size_t index) const noexcept {
    const Entry& entry = entries_[index];
    const std::string_view text = text_;
    return {text.substr(entry.begin, entry.key_bytes), text.substr(entry.begin + entry.key_bytes, entry.value_bytes)};
}

std::vector<TelemetryFile> readable_telemetry_files() {
    std::vector<TelemetryFile> readable;
    for (const TelemetryFile& file : kFiles) {
        const int descriptor = open_below_proc(file.name);
        if (descriptor < 0)
            continue;
        char byte = 0;
        // Opening is not enough: pressure files open, and fail at the first read, where PSI is switched off.
        if (::read(descriptor, &byte, 1) == 1)
            readable.push_back(file);
        ::close(descriptor);
    }
    return readable;
}

TelemetryReader::TelemetryReader(std::vector<TelemetryFile> files)
    : files_(std::move(files)), buffer_(kReadBytesMin, '\0') {
    for (const TelemetryFile& file : files_) {
        const int descriptor = open_below_proc(file.name);
        if (descriptor < 0) {
            const int error = errno;
            for (const int opened : descriptors_)
                ::close(opened);
            throw std::system_error(error, std::generic_category(), std::string("/proc/") + file.name);
        }
        descriptors_.push_back(descriptor);
    }
}

TelemetryReader::~TelemetryReader() {
    for (const int descriptor : descriptors_)
        ::close(descriptor);
}

void TelemetryReader::sample(Sweep& sweep) {
    for (std::size_t index = 0; index < files_.size(); ++index) {
        files_[index].parse(files_[index].name, read_whole(index), sweep);
    }
}

std::string_view TelemetryReader::read_whole(std::size_t index) {
    std::size_t length = 0;
    for (;;) {
        if (length == buffer_.size())
            buffer_.resize(buffer_.size() * 2);
        const ssize_t count =
            ::pread(descriptors_[index], buffer_.data() + length, buffer_.size() - length, static_cast<off_t>(length));
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            throw std::system_error(errno, std::generic_category(), std::string("/proc/") + files_[index].name);
        if (count == 0)
            break;
        length += static_cast<std::size_t>(count);
    }
    // A line may be cut where the text grew between two reads: only whole lines count.
    const std::string_view text = std::string_view(buffer_).substr(0, length);
    const std::size_t last = text.rfind('\n');
    return last == std::string_view::npos ? text : text.substr(0, last + 1);
}

}  // namespace ringmain::cli::demo
