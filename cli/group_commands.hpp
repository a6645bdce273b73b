// What the files of `ringmain group` share.
#pragma once

#include <CLI/CLI.hpp>

#include <string>

#include "ringmain/error.hpp"

namespace ringmain::cli {

/// `ringmain group reset`.
void add_reset(CLI::App& group);

/// The error's text, with the option that overrides it.
[[nodiscard]] std::string in_force_words(const Error& error);

}  // namespace ringmain::cli
