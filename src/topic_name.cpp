// Which names a topic may have: Kafka's rule.
#include "topic_name.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>

#include "ringmain/error.hpp"
#include "ringmain/topic_options.hpp"

namespace ringmain {

namespace {

bool is_name_character(char c) noexcept {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
           c == '-';
}

// A refused name may hold anything; the message must not.
std::string printable(std::string_view name) {
    constexpr std::size_t kShown = 64;
    std::string text;
    for (const char c : name.substr(0, kShown)) {
        if (c >= ' ' && c <= '~') {
            text += c;
            continue;
        }
        std::array<char, 8> escape{};
        std::snprintf(escape.data(), escape.size(), "\\x%02x", static_cast<unsigned>(static_cast<unsigned char>(c)));
        text += escape.data();
    }
    return name.size() > kShown ? text + "..." : text;
}

}  // namespace

bool is_topic_name(std::string_view name) noexcept {
    if (name.empty() || name.size() > kTopicNameMax || name == "." || name == "..")
        return false;
    return std::all_of(name.begin(), name.end(), is_name_character);
}

void check_topic_name(std::string_view name) {
    if (is_topic_name(name))
        return;
    throw Error(ErrorCode::invalid_argument, printable(name),
                "topic name '" + printable(name) + "' (" + std::to_string(name.size()) + " bytes) is not legal: 1 to " +
                    std::to_string(kTopicNameMax) + " of letters, digits, '.', '_' and '-', but not \".\" or \"..\"");
}

}  // namespace ringmain
