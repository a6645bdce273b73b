// An input named on the command line: a file, or "-" for standard input.
#pragma once

#include <string>
#include <string_view>

namespace ringmain::cli {

/// Throws CommandError naming `path`, what could not be done, and errno.
[[noreturn]] void fail_input(const std::string& path, std::string_view what);

/// Open for reading. Standard input is not closed.
class InputFile {
public:
    /// Throws CommandError.
    explicit InputFile(const std::string& path);
    InputFile(const InputFile&) = delete;
    InputFile& operator=(const InputFile&) = delete;
    ~InputFile();

    [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

private:
    int descriptor_;
};

}  // namespace ringmain::cli
