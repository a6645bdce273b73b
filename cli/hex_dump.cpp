// Hexadecimal dump.
#include "hex_dump.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace ringmain::cli {

namespace {

constexpr std::size_t kBytesPerLine = 16;

void append_line(std::string& text, std::size_t position, Bytes line) {
    fmt::format_to(std::back_inserter(text), "{:08x}: ", position);
    for (std::size_t i = 0; i < kBytesPerLine; ++i) {
        text.append(i < line.size() ? fmt::format("{:02x}", std::to_integer<unsigned>(line[i])) : "  ");
        if (i % 2 == 1)
            text.push_back(' ');
    }
    text.push_back(' ');
    for (const std::byte byte : line) {
        const auto c = std::to_integer<unsigned char>(byte);
        text.push_back(c >= 0x20 && c < 0x7F ? static_cast<char>(c) : '.');
    }
    text.push_back('\n');
}

}  // namespace

std::string hex_dump(Bytes bytes) {
    std::string text;
    for (std::size_t position = 0; position < bytes.size(); position += kBytesPerLine) {
        append_line(text, position, bytes.subspan(position, std::min(kBytesPerLine, bytes.size() - position)));
    }
    return text;
}

}  // namespace ringmain::cli
