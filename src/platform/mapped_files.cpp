// Files that this process has mapped.
#include "platform/mapped_files.hpp"

#include <sys/sysmacros.h>

#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <string>
#include <string_view>

namespace ringmain::platform {

bool is_unlinked(FileIdentity file) {
    constexpr std::string_view kUnlinked = " (deleted)";
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        if (!line.ends_with(kUnlinked))
            continue;
        unsigned major = 0;
        unsigned minor = 0;
        std::uint64_t inode = 0;
        // "begin-end rights position device inode path"
        if (std::sscanf(line.c_str(), "%*s %*s %*s %x:%x %" SCNu64, &major, &minor, &inode) == 3 &&
            FileIdentity{makedev(major, minor), inode} == file)
            return true;
    }
    return false;
}

}  // namespace ringmain::platform
