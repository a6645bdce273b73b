// Whether systemd-logind deletes the broker when its owner logs out (RemoveIPC=).
#include <pwd.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <vector>

#include "doctor_examination.hpp"

namespace ringmain::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kSystemUidMax = 999;  // where login.defs does not say otherwise

std::string text_of(const fs::path& file) {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
}

/// In the order in which logind reads them.
std::string logind_configuration() {
    std::string text = text_of("/etc/systemd/logind.conf");
    std::vector<fs::path> more;
    for (const char* const directory :
         {"/usr/lib/systemd/logind.conf.d", "/run/systemd/logind.conf.d", "/etc/systemd/logind.conf.d"}) {
        std::error_code error;
        for (const fs::directory_entry& entry : fs::directory_iterator(directory, error)) {
            if (entry.path().extension() == ".conf")
                more.push_back(entry.path());
        }
    }
    std::sort(more.begin(), more.end(),
              [](const fs::path& a, const fs::path& b) { return a.filename() < b.filename(); });
    for (const fs::path& file : more)
        text += '\n' + text_of(file);
    return text;
}

std::uint32_t system_uid_max() {
    std::ifstream definitions("/etc/login.defs");
    for (std::string line; std::getline(definitions, line);) {
        std::istringstream words(line);
        std::string name;
        std::uint32_t value = 0;
        if (words >> name >> value && name == "SYS_UID_MAX")
            return value;
    }
    return kSystemUidMax;
}

}  // namespace

bool removes_ipc(std::string_view configuration) {
    constexpr std::string_view kKey = "RemoveIPC=";
    bool removes = true;
    std::istringstream lines{std::string(configuration)};
    for (std::string line; std::getline(lines, line);) {
        std::erase_if(line, [](char c) { return c == ' ' || c == '\t' || c == '\r'; });
        if (!line.starts_with(kKey))
            continue;
        const std::string value = line.substr(kKey.size());
        removes = value.empty() || value == "yes" || value == "true" || value == "on" || value == "1";
    }
    return removes;
}

std::string owner_with_whom_it_goes(const std::string& directory) {
    std::error_code error;
    const fs::path real = fs::canonical(directory, error);
    struct stat status {};
    if (error || !real.string().starts_with("/dev/shm/") || ::stat(real.c_str(), &status) != 0 ||
        status.st_uid <= system_uid_max() || !fs::exists("/run/systemd/seats", error) ||
        !removes_ipc(logind_configuration()))
        return {};
    const passwd* const user = ::getpwuid(status.st_uid);
    const std::string name = user != nullptr ? user->pw_name : std::to_string(status.st_uid);
    return fs::exists("/var/lib/systemd/linger/" + name, error) ? std::string() : name;
}

}  // namespace ringmain::cli
