// The backslash escapes that formats and delimiters share.
#pragma once

#include <string>
#include <string_view>

namespace ringmain::cli {

/// Takes one escape off the front of `text`, which starts with the character after the backslash, and returns the
/// byte it stands for: \n \t \r \0 \\ and \xNN with two hexadecimal digits.
/// Throws UsageError naming the option and the escape.
[[nodiscard]] char take_escape(std::string_view option, std::string_view& text);

/// The text with all its escapes replaced.
[[nodiscard]] std::string unescape(std::string_view option, std::string_view text);

}  // namespace ringmain::cli
