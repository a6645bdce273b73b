// The metrics of the daemon's own process.
#include "metrics_process.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>

namespace ringmain::daemon {

namespace {

constexpr double kMicro = 1e-6;

// Of /proc/self/stat, counted from the state, which is field 3: the name before it may hold spaces.
std::optional<double> stat_field(int number) {
    std::ifstream file("/proc/self/stat");
    std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    const std::size_t name_end = text.rfind(')');
    if (name_end == std::string::npos)
        return std::nullopt;
    std::istringstream fields(text.substr(name_end + 1));
    std::string field;
    for (int i = 2; i < number; ++i) {
        if (!(fields >> field))
            return std::nullopt;
    }
    return std::stod(field);
}

double in_seconds(const timeval& time) noexcept {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * kMicro;
}

std::optional<double> processor_seconds() {
    rusage usage{};
    if (::getrusage(RUSAGE_SELF, &usage) != 0)
        return std::nullopt;
    return in_seconds(usage.ru_utime) + in_seconds(usage.ru_stime);
}

std::optional<double> resident_bytes() {
    constexpr int kField = 24;
    const auto pages = stat_field(kField);
    return pages ? std::optional(*pages * static_cast<double>(::sysconf(_SC_PAGESIZE))) : std::nullopt;
}

std::optional<double> virtual_bytes() {
    constexpr int kField = 23;
    return stat_field(kField);
}

std::optional<double> threads() {
    constexpr int kField = 20;
    return stat_field(kField);
}

std::optional<double> start_time() {
    constexpr int kField = 22;
    const auto ticks = stat_field(kField);
    std::ifstream file("/proc/stat");
    for (std::string word; file >> word;) {
        double boot = 0;
        if (word == "btime" && file >> boot && ticks)
            return boot + *ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
    }
    return std::nullopt;
}

std::optional<double> open_descriptors() {
    std::error_code failure;
    std::filesystem::directory_iterator entries("/proc/self/fd", failure);
    if (failure)
        return std::nullopt;
    double count = -1;  // the one that this look has open
    for (; entries != std::filesystem::directory_iterator(); entries.increment(failure))
        ++count;
    return count;
}

std::optional<double> descriptors_max() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return std::nullopt;
    return static_cast<double>(limit.rlim_cur);
}

struct ProcessMetric {
    MetricInfo info;
    std::optional<double> (*value)();
};

constexpr std::array kMetrics = {
    ProcessMetric{
        {"process_cpu_seconds_total", MetricKind::counter, "", "Processor time of the daemon, user and system."},
        processor_seconds},
    ProcessMetric{{"process_resident_memory_bytes", MetricKind::gauge, "",
                   "Resident memory of the daemon, shared memory that it has mapped among it."},
                  resident_bytes},
    ProcessMetric{{"process_virtual_memory_bytes", MetricKind::gauge, "", "Virtual memory of the daemon."},
                  virtual_bytes},
    ProcessMetric{{"process_threads", MetricKind::gauge, "", "Threads of the daemon."}, threads},
    ProcessMetric{{"process_open_fds", MetricKind::gauge, "", "Open descriptors of the daemon."}, open_descriptors},
    ProcessMetric{{"process_max_fds", MetricKind::gauge, "", "How many descriptors the daemon may have."},
                  descriptors_max},
    ProcessMetric{
        {"process_start_time_seconds", MetricKind::gauge, "", "When the daemon was started, since the Unix epoch."},
        start_time},
};

}  // namespace

std::vector<MetricInfo> process_metrics() {
    std::vector<MetricInfo> infos;
    for (const ProcessMetric& metric : kMetrics)
        infos.push_back(metric.info);
    return infos;
}

MetricFamilies collect_process() {
    MetricFamilies families;
    for (const ProcessMetric& metric : kMetrics) {
        const auto value = metric.value();
        if (!value)
            continue;
        families.push_back(family_of(metric.info));
        add_sample(families.back(), metric.info, {}, *value);
    }
    return families;
}

}  // namespace ringmain::daemon
