// The limits of a topic's retention on the command line and in its output.
#pragma once

#include <CLI/CLI.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "ringmain/topic_options.hpp"

namespace ringmain::cli {

/// What the options said; nothing was said of an absent one.
struct RetentionArguments {
    std::optional<std::chrono::milliseconds> age;
    std::optional<std::uint64_t> records;
    std::optional<std::uint64_t> bytes;

    [[nodiscard]] bool empty() const noexcept { return !age && !records && !bytes; }
    void apply_to(Retention& retention) const noexcept;
};

/// --retention-age, --retention-records and --retention-bytes; "none" is 0. A value out of its range is a usage error. The
/// arguments must outlive the parsing.
void add_retention_options(CLI::App& command, RetentionArguments& arguments);

/// How much later than the age says a record may go while a keeper runs, or what is over by then.
[[nodiscard]] std::chrono::milliseconds late_at_most(const Retention& retention) noexcept;

/// E.g. "age 7d, 1000 records; per partition, whichever is met first", or "none: records go when room is needed".
[[nodiscard]] std::string retention_to_text(const Retention& retention);

/// How exactly the limits are kept, as a sentence; empty if there are none.
[[nodiscard]] std::string lateness_to_text(const Retention& retention);

}  // namespace ringmain::cli
