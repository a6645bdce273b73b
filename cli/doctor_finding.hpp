// What a doctor can find: the list of all kinds, and one finding.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace ringmain::cli {

enum class Severity : std::uint8_t {
    note,     ///< Worth knowing.
    warning,  ///< Will hurt if nobody does anything.
    error,    ///< Hurts now.
};
[[nodiscard]] std::string_view to_string(Severity severity) noexcept;

/// A kind of finding. docs/troubleshooting.md has a row for each.
struct FindingKind {
    std::string_view id;  ///< Never changes.
    Severity severity;    ///< As a rule.
    bool loses = false;   ///< As a rule, too.
};
/// Kinds that begin at a moment, as far as anybody can know one.
[[nodiscard]] bool is_event(std::string_view id) noexcept;
[[nodiscard]] std::span<const FindingKind> finding_kinds() noexcept;

struct Finding {
    std::string_view id;
    Severity severity{};
    std::string object;         ///< What it is about: a topic, a group, a process, a file.
    std::string text;           ///< What is wrong with it.
    std::int64_t since_ns = 0;  ///< Since when at the latest, since the Unix epoch; 0: nobody knows, or it has no beginning.
    bool happened = false;      ///< It began at some moment, known or not: an event, and no circumstance.
    std::string command;        ///< What mends it; empty: no single command does.
    bool mends = true;          ///< False: the command only shows more, because somebody has to decide.
    bool loses = false;         ///< It ends the finding at a price (records, access, a process, memory): only if somebody wants that.

    /// May be run by whoever reads it, a program too.
    [[nodiscard]] bool is_safe() const noexcept { return mends && !loses; }
};

/// With the kind's severity. `id` must be one of finding_kinds().
[[nodiscard]] Finding make_finding(std::string_view id, std::string object, std::string text);

/// The text as one word of a shell command, without a byte that acts on a terminal: a word with control characters is quoted
/// as bash, zsh and ksh read it, $'...'.
[[nodiscard]] std::string shell_word(std::string_view text);

}  // namespace ringmain::cli
