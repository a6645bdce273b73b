// Opening inputs.
#include "input_file.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "errors.hpp"

namespace ringmain::cli {

void fail_input(const std::string& path, std::string_view what) {
    throw CommandError(fmt::format("{}: cannot {}: {}", path, what, std::generic_category().message(errno)));
}

InputFile::InputFile(const std::string& path)
    : descriptor_(path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (descriptor_ < 0)
        fail_input(path, "open");
}

InputFile::~InputFile() {
    if (descriptor_ != STDIN_FILENO)
        ::close(descriptor_);
}

}  // namespace ringmain::cli
