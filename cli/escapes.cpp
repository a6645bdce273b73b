// Backslash escapes.
#include "escapes.hpp"

#include <fmt/core.h>

#include <charconv>
#include <cstddef>

#include "errors.hpp"

namespace ringmain::cli {

namespace {

[[noreturn]] void refuse(std::string_view option, std::string_view escape) {
    throw UsageError(fmt::format(R"({}: unknown escape '\{}': known are \n \t \r \0 \\ and \xNN)", option, escape));
}

char take_hexadecimal(std::string_view option, std::string_view& text) {
    const std::string_view digits = text.substr(0, 2);
    unsigned value = 0;
    const char* end = digits.data() + digits.size();
    const auto [stopped_at, error] = std::from_chars(digits.data(), end, value, 16);
    if (digits.size() != 2 || error != std::errc{} || stopped_at != end)
        refuse(option, fmt::format("x{}", digits));
    text.remove_prefix(2);
    return static_cast<char>(value);
}

}  // namespace

char take_escape(std::string_view option, std::string_view& text) {
    if (text.empty())
        refuse(option, "");
    const char letter = text.front();
    text.remove_prefix(1);
    switch (letter) {
        case 'n':
            return '\n';
        case 't':
            return '\t';
        case 'r':
            return '\r';
        case '0':
            return '\0';
        case '\\':
            return '\\';
        case 'x':
            return take_hexadecimal(option, text);
        default:
            refuse(option, std::string_view(&letter, 1));
    }
}

std::string unescape(std::string_view option, std::string_view text) {
    std::string plain;
    while (!text.empty()) {
        const char c = text.front();
        text.remove_prefix(1);
        plain.push_back(c == '\\' ? take_escape(option, text) : c);
    }
    return plain;
}

}  // namespace ringmain::cli
