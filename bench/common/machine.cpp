// Reads what /proc and /sys say about the machine.
#include "bench/common/machine.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>
#include <string>

namespace ringmain::bench {
namespace {

std::string first_line(const std::string& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

/// The value of the first line of /proc/cpuinfo that begins with `key`.
std::string cpuinfo(const std::string& key) {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
        const std::size_t colon = line.find(':');
        if (line.rfind(key, 0) == 0 && colon != std::string::npos && colon + 2 <= line.size())
            return line.substr(colon + 2);
    }
    return {};
}

std::string processor() {
    const std::string model = cpuinfo("model name");
    if (!model.empty())
        return fmt::format("{}, family {}, model {}", model, cpuinfo("cpu family"), cpuinfo("model\t"));
    return fmt::format("implementer {}, part {}", cpuinfo("CPU implementer"),
                       cpuinfo("CPU part"));  // aarch64 names no model
}

bool under_hypervisor() { return fmt::format(" {} ", cpuinfo("flags")).find(" hypervisor ") != std::string::npos; }

nlohmann::json caches() {
    nlohmann::json result = nlohmann::json::array();
    for (int i = 0; i < 8; ++i) {
        const std::string path = fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/", i);
        const std::string size = first_line(path + "size");
        if (size.empty())
            break;
        result.push_back(fmt::format("L{} {} {}, shared by cpus {}", first_line(path + "level"),
                                     first_line(path + "type"), size, first_line(path + "shared_cpu_list")));
    }
    return result;
}

}  // namespace

std::string compiler_name() { return RINGMAIN_BENCH_COMPILER; }

nlohmann::json describe_machine() {
    utsname name{};
    ::uname(&name);
    nlohmann::json json;
    json["cpu"] = processor();
    json["logical_cpus"] = ::sysconf(_SC_NPROCESSORS_ONLN);
    json["threads_share_cores"] = first_line("/sys/devices/system/cpu/smt/active") == "1";
    json["caches"] = caches();
    json["virtual_machine"] = under_hypervisor();
    json["memory_mib"] = ::sysconf(_SC_PHYS_PAGES) / 1024 * ::sysconf(_SC_PAGESIZE) / 1024;
    json["kernel"] = fmt::format("{} {} {}", name.sysname, name.release, name.machine);
    json["frequency_governor"] = first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    json["shmem_huge_pages"] = first_line("/sys/kernel/mm/transparent_hugepage/shmem_enabled");
    json["compiler"] = compiler_name();
    json["flags"] = RINGMAIN_BENCH_FLAGS;
    return json;
}

}  // namespace ringmain::bench
