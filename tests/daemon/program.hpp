// Runs an installed program as another user, or without its standard streams.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "support/child.hpp"

namespace ringmain::test {

struct Circumstances {
    std::filesystem::path output = {};     ///< Both streams go to this file.
    uid_t uid = 0;                         ///< Not 0: run as this user, in no other group than his own.
    std::vector<int> closed_streams = {};  ///< Closed when the program starts.
    std::vector<std::pair<std::string, std::string>> environment = {};
    int output_descriptor = -1;  ///< Not -1: both streams go to it instead of the file.
};

/// Starts `program`; the child's exit code is the program's. The program is opened before the rights are given up.
[[nodiscard]] Child start(const char* program, const std::vector<std::string>& arguments,
                          const Circumstances& circumstances);

[[nodiscard]] std::string text_in(const std::filesystem::path& file);

}  // namespace ringmain::test
