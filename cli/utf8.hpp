// Whether bytes are text, and how bytes that are not travel through text.
#pragma once

#include <string>
#include <string_view>

namespace ringmain::cli {

/// Well-formed UTF-8 (Unicode table 3-7): no overlong forms, no surrogates, nothing above U+10FFFF. NUL is text.
[[nodiscard]] bool is_utf8(std::string_view bytes) noexcept;

/// RFC 4648 base64 with padding.
[[nodiscard]] std::string to_base64(std::string_view bytes);

}  // namespace ringmain::cli
