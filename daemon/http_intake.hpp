// The bytes of one request as they come in: bounded, and complete or not.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace ringmain::daemon {

inline constexpr std::size_t kHeadBytesMax = std::size_t{16} << 10;  ///< Request line and headers.
inline constexpr std::size_t kLineBytesMax = std::size_t{4} << 10;   ///< One line of them.
inline constexpr std::size_t kBodyBytesMax = std::size_t{64} << 10;

/// Why a request is refused before it is looked at any further.
struct HttpRefusal {
    int status = 400;
    std::string why;
};

/// Takes in one request. What a parser could be made to read without end, to unpack or to take for something else is
/// refused here: chunks, encodings, ranges, parts, two lengths. So whatever comes out has a head and a body of known
/// sizes.
class HttpIntake {
public:
    /// Bytes that belong to no more than one request; what comes behind it is dropped.
    void take(std::string_view bytes);

    [[nodiscard]] bool complete() const noexcept { return complete_; }
    [[nodiscard]] const std::optional<HttpRefusal>& refusal() const noexcept { return refusal_; }
    /// Requires `complete`. Head and body.
    [[nodiscard]] const std::string& text() const noexcept { return text_; }
    [[nodiscard]] std::string_view method() const noexcept;
    [[nodiscard]] std::string_view target() const noexcept;
    [[nodiscard]] bool empty() const noexcept { return text_.empty(); }

private:
    void look_at_head();
    void look_at_line(std::string_view line);
    void refuse(int status, std::string why) {
        if (!refusal_)
            refusal_ = HttpRefusal{status, std::move(why)};
    }

    std::string text_;
    std::size_t head_bytes_ = 0;  // 0: not complete
    std::optional<std::size_t> body_bytes_;
    bool complete_ = false;
    std::optional<HttpRefusal> refusal_;
};

}  // namespace ringmain::daemon
