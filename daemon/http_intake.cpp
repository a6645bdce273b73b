// The bytes of one request as they come in.
#include "http_intake.hpp"

#include <algorithm>
#include <charconv>

namespace ringmain::daemon {

namespace {

constexpr std::string_view kLineEnd = "\r\n";
constexpr std::string_view kHeadEnd = "\r\n\r\n";

char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string lower_text(std::string_view text) {
    std::string result(text);
    std::transform(result.begin(), result.end(), result.begin(), lower);
    return result;
}

std::string_view trimmed(std::string_view text) noexcept {
    const std::size_t first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos)
        return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

bool is_plain(std::string_view line) noexcept {
    return std::all_of(line.begin(), line.end(),
                       [](char c) { return (c >= ' ' && c != '\x7f') || c == '\t' || c < 0; });
}

}  // namespace

std::string_view HttpIntake::method() const noexcept { return std::string_view(text_).substr(0, text_.find(' ')); }

std::string_view HttpIntake::target() const noexcept {
    const std::size_t first = text_.find(' ');
    const std::string_view rest =
        first == std::string::npos ? std::string_view() : std::string_view(text_).substr(first + 1);
    return rest.substr(0, rest.find_first_of(" \r"));
}

void HttpIntake::take(std::string_view bytes) {
    if (complete_ || refusal_)
        return;
    constexpr std::size_t kBytesMax = kHeadBytesMax + kHeadEnd.size() + kBodyBytesMax;
    text_.append(bytes.substr(0, kBytesMax - std::min(text_.size(), kBytesMax)));
    if (head_bytes_ == 0)
        look_at_head();
    if (refusal_ || head_bytes_ == 0)
        return;
    const std::size_t whole = head_bytes_ + body_bytes_.value_or(0);
    complete_ = text_.size() >= whole;
    if (complete_)
        text_.resize(whole);
}

void HttpIntake::look_at_head() {
    const std::size_t end = text_.find(kHeadEnd);
    if (std::min(end, text_.size()) > kHeadBytesMax)
        return refuse(431, "the request's head is longer than " + std::to_string(kHeadBytesMax) + " bytes");
    if (end == std::string::npos)
        return;
    std::string_view head = std::string_view(text_).substr(0, end);
    const std::string_view first = head.substr(0, head.find(kLineEnd));
    if (std::count(first.begin(), first.end(), ' ') != 2 ||
        !(first.ends_with(" HTTP/1.1") || first.ends_with(" HTTP/1.0")))
        refuse(400, "the first line is not one of HTTP/1.1");
    for (bool is_first = true; !head.empty() && !refusal_; is_first = false) {
        const std::size_t line_end = std::min(head.find(kLineEnd), head.size());
        const std::string_view line = head.substr(0, line_end);
        if (line.size() > kLineBytesMax)
            refuse(is_first ? 414 : 431,
                   "a line of the request's head is longer than " + std::to_string(kLineBytesMax) + " bytes");
        else if (!is_plain(line))
            refuse(400, "a line of the request's head holds control characters");
        else if (!is_first)
            look_at_line(line);
        head.remove_prefix(std::min(head.size(), line_end + kLineEnd.size()));
    }
    head_bytes_ = end + kHeadEnd.size();
}

void HttpIntake::look_at_line(std::string_view line) {
    const std::size_t colon = line.find(':');
    if (colon == 0 || colon == std::string_view::npos || line.find_first_of(" \t") < colon)
        return refuse(400, "a line of the request's head is not 'name: value'");
    const std::string name = lower_text(line.substr(0, colon));
    const std::string_view value = trimmed(line.substr(colon + 1));
    if (name == "content-length") {
        std::size_t bytes = 0;
        const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), bytes);
        const bool is_number =
            !value.empty() && end == value.data() + value.size() && error != std::errc::invalid_argument;
        if (!is_number || body_bytes_)
            return refuse(400, "Content-Length is not one number");
        if (error != std::errc() || bytes > kBodyBytesMax)
            return refuse(413, "the body is longer than " + std::to_string(kBodyBytesMax) + " bytes");
        body_bytes_ = bytes;
    } else if (name == "transfer-encoding") {
        refuse(411, "Transfer-Encoding is not served; send a Content-Length");
    } else if (name == "content-encoding") {
        refuse(415, "Content-Encoding is not served");
    } else if (name == "content-type" && lower_text(value).starts_with("multipart/")) {
        refuse(415, "a body of several parts is not served; send JSON");
    } else if (name == "range") {
        refuse(416, "Range is not served");
    } else if (name == "expect" && lower_text(value) != "100-continue") {
        refuse(417, "Expect is not served");
    }
}

}  // namespace ringmain::daemon
