// The address of a Unix socket, also of one whose path does not fit into it.
#include "platform/local_address.hpp"

#include <fcntl.h>

#include <string>

#include "ringmain/error.hpp"

namespace ringmain::platform {

LocalAddress::LocalAddress(const std::filesystem::path& socket) {
    address_.sun_family = AF_UNIX;
    constexpr std::size_t kPathMax = sizeof address_.sun_path - 1;
    std::string path = socket.string();
    if (path.size() > kPathMax) {
        directory_ = open_file(socket.parent_path(), O_PATH | O_DIRECTORY);
        path = "/proc/self/fd/" + std::to_string(directory_.get()) + "/" + socket.filename().string();
    }
    if (path.size() > kPathMax) {
        throw Error(
            ErrorCode::invalid_argument, socket.string(),
            "the name of the socket '" + socket.string() + "' is longer than " + std::to_string(kPathMax) + " bytes");
    }
    path.copy(address_.sun_path, kPathMax);
}

}  // namespace ringmain::platform
