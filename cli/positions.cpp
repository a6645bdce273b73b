// Parsing of positions.
#include "positions.hpp"

#include <fmt/core.h>

#include <optional>

#include "errors.hpp"
#include "numbers.hpp"
#include "ringmain/topic_options.hpp"
#include "times.hpp"

namespace ringmain::cli {

Position parse_position(std::string_view option, std::string_view text) {
    if (text == "earliest")
        return Position::earliest();
    if (text == "latest")
        return Position::latest();
    if (text.starts_with('@'))
        return Position::since(parse_time_ns(option, text.substr(1)));
    const bool from_end = text.starts_with('-');
    const std::optional<std::uint64_t> number = parse_digits(text.substr(from_end ? 1 : 0));
    if (!number || (!from_end && *number > kOffsetMax)) {
        throw UsageError(fmt::format("{}: '{}' is none of earliest, latest, an offset from 0 to {}, -N and @TIME",
                                     option, text, kOffsetMax));
    }
    return from_end ? Position::last(*number) : Position::at(*number);
}

void note_if_beyond_end(std::string_view topic, const GroupLag& lag) {
    if (lag.damaged || lag.position <= lag.log_end)
        return;
    note("topic '{}' partition {}: offset {} is beyond the end, offset {}; nothing is read there until the log gets that far", topic,
         lag.partition, lag.position, lag.log_end);
}

}  // namespace ringmain::cli
