// The address of a Unix socket, also of one whose path does not fit into it.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <filesystem>

#include "platform/descriptor.hpp"

namespace ringmain::platform {

/// sockaddr_un holds 107 characters. For a longer path the directory is opened, and the socket is named through
/// /proc/self/fd; so the object must live as long as the address is used.
class LocalAddress {
public:
    /// Throws Error: not_found, permission_denied (the directory of a long path), invalid_argument (a file name that is
    /// too long even so).
    explicit LocalAddress(const std::filesystem::path& socket);

    [[nodiscard]] const sockaddr* get() const noexcept { return reinterpret_cast<const sockaddr*>(&address_); }
    [[nodiscard]] static constexpr socklen_t size() noexcept { return sizeof(sockaddr_un); }

private:
    Descriptor directory_;
    sockaddr_un address_{};
};

}  // namespace ringmain::platform
