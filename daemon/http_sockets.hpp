// The sockets that the daemon listens on.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "platform/descriptor.hpp"

namespace ringmain::daemon {

/// Who may connect to keeper.sock; what is not given is as the broker directory lets: who may read and enter it may
/// connect.
struct SocketAccess {
    std::optional<std::uint32_t> group;
    std::optional<std::uint32_t> mode;  ///< Up to 0666; connecting needs the right to write.
    friend bool operator==(const SocketAccess&, const SocketAccess&) = default;
};

/// The file of a Unix socket, removed with the object unless it is another one by then.
class SocketFile {
public:
    /// Makes it. Requires the keeper's lock: a socket that is there and on which nobody listens is then a dead
    /// daemon's, and is replaced. Throws Error: busy (somebody listens), mismatch (it is no socket), permission_denied,
    /// no_space, io.
    SocketFile(const std::filesystem::path& path, const SocketAccess& access);
    SocketFile(const SocketFile&) = delete;
    SocketFile& operator=(const SocketFile&) = delete;
    ~SocketFile() { remove(); }

    /// Listens from now on. Once.
    [[nodiscard]] platform::Descriptor listen();
    /// The path still leads to it.
    [[nodiscard]] bool is_there() const noexcept;
    void remove() noexcept;

private:
    void set_rights(const SocketAccess& access) const;

    std::filesystem::path path_;
    platform::Descriptor socket_;
    dev_t device_ = 0;
    ino_t inode_ = 0;
};

struct ListeningPort {
    platform::Descriptor socket;
    std::string address;  ///< "127.0.0.1:9464"
};

/// Listens on a loopback address; port 0: on any that is free. Throws Error: invalid_argument (not a loopback address),
/// busy (the port is taken), permission_denied, io.
[[nodiscard]] ListeningPort listen_on_port(const std::string& host, std::uint16_t port);

/// The directory of the broker whose daemon serves its metrics on a loopback address; nothing: no daemon answers there.
[[nodiscard]] std::optional<std::filesystem::path> broker_served_on_port(const std::string& host, std::uint16_t port);

}  // namespace ringmain::daemon
