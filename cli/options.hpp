// Options whose values are checked strictly, on top of CLI11.
#pragma once

#include <CLI/CLI.hpp>

#include <string>

#include "numbers.hpp"

namespace ringmain::cli {

/// The first of the names in a CLI11 list: "-p" of "-p,--partition". Errors name the option by it.
[[nodiscard]] inline std::string first_name(const std::string& names) { return names.substr(0, names.find(',')); }

/// An option that is a whole number in a range; out of it, or anything else, is a usage error.
template <class Unsigned>
CLI::Option* add_number(CLI::App& app, const std::string& names, Unsigned& value, Range range,
                        const std::string& help) {
    return app.add_option_function<std::string>(
        names,
        [&value, range, name = first_name(names)](const std::string& text) {
            value = static_cast<Unsigned>(parse_number(name, text, range));
        },
        help);
}

/// As add_number, for sizes with a suffix K, M or G.
template <class Unsigned>
CLI::Option* add_size(CLI::App& app, const std::string& names, Unsigned& value, Range range, const std::string& help) {
    return app.add_option_function<std::string>(
        names,
        [&value, range, name = first_name(names)](const std::string& text) {
            value = static_cast<Unsigned>(parse_size(name, text, range));
        },
        help);
}

}  // namespace ringmain::cli
