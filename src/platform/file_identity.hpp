// What tells whether a path still names the file that was opened.
#pragma once

#include <cstdint>

namespace ringmain::platform {

struct FileIdentity {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    friend bool operator==(FileIdentity, FileIdentity) = default;
};

}  // namespace ringmain::platform
