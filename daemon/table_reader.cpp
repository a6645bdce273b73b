// Reads the values of one TOML table, and says what is wrong with each.
#include "table_reader.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <sstream>
#include <tuple>

#include "cli/rights_text.hpp"
#include "quantities.hpp"

namespace ringmain::daemon {

namespace {

using cli::group_id;
using cli::mode_to_text;
using cli::parse_mode;
using cli::user_id;

constexpr std::uint32_t kNoId = std::numeric_limits<std::uint32_t>::max();  // chown() takes it for "leave it"
constexpr std::size_t kShownBytes = 80;

/// The value as it stands in the file, in one line and not too long of it.
std::string shown(const toml::node& node) {
    std::ostringstream stream;
    node.visit([&](const auto& known) { stream << known; });
    std::string text = stream.str();
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text.size() > kShownBytes ? text.substr(0, kShownBytes) + "..." : text;
}

std::string_view type_of(const toml::node& node) {
    switch (node.type()) {
        case toml::node_type::table:
            return "a table";
        case toml::node_type::array:
            return "an array";
        case toml::node_type::string:
            return "a string";
        case toml::node_type::integer:
            return "a whole number";
        case toml::node_type::floating_point:
            return "a number with a fraction";
        case toml::node_type::boolean:
            return "a boolean";
        default:
            return "a date or time";
    }
}

std::optional<std::uint64_t> whole_number(const toml::node& node) {
    const auto* const number = node.as_integer();
    if (number == nullptr || number->get() < 0)
        return std::nullopt;
    return static_cast<std::uint64_t>(number->get());
}

std::string count_to_text(std::uint64_t number) { return std::to_string(number); }
std::string ms_to_text(std::uint64_t ms) {
    return duration_to_text(std::chrono::milliseconds(static_cast<std::int64_t>(ms)));
}

/// Levenshtein's, and a swap of neighbours counts once.
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before(b.size() + 1);
    std::vector<std::size_t> last(b.size() + 1);
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(last.begin(), last.end(), 0U);
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0U : 1U)});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = std::min(row[j], before[j - 2] + 1);
        }
        before = std::exchange(last, row);
    }
    return last[b.size()];
}

}  // namespace

void ProblemList::add(const toml::source_region& where, std::string key, std::string what) {
    problems_.push_back({file_, where.begin.line, where.begin.column, std::move(key), std::move(what)});
}

std::vector<ConfigurationProblem> ProblemList::take() {
    std::stable_sort(problems_.begin(), problems_.end(), [](const auto& a, const auto& b) {
        return std::tie(a.line, a.column) < std::tie(b.line, b.column);
    });
    return std::move(problems_);
}

std::string TableReader::path_of(std::string_view key) const {
    return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
}

const toml::node* TableReader::any(std::string_view key) {
    known_.push_back(key);
    return table_.get(key);
}

void TableReader::refuse(std::string_view key, const std::string& what) {
    const toml::node* const node = table_.get(key);
    problems_.add(node != nullptr ? node->source() : table_.source(), node != nullptr ? path_of(key) : path_, what);
}

std::optional<std::uint64_t> TableReader::in_range(std::string_view key, std::optional<std::uint64_t> value,
                                                   Range range, const Form& form) {
    const toml::node& node = *table_.get(key);
    if (!value) {
        const bool is_right_type = node.is_integer() || (node.is_string() && form.takes_text);
        refuse(key, is_right_type ? fmt::format("{} is not {}", shown(node), form.name)
                                  : fmt::format("{} is {}, not {}", shown(node), type_of(node), form.name));
        return std::nullopt;
    }
    if (*value >= range.min && *value <= range.max)
        return value;
    const std::string limit = range.max == UINT64_MAX
                                  ? fmt::format("less than {}", form.show(range.min))
                                  : fmt::format("outside {} to {}", form.show(range.min), form.show(range.max));
    refuse(key, fmt::format("{} is {}", shown(node), limit));
    return std::nullopt;
}

std::optional<std::uint64_t> TableReader::count(std::string_view key, Range range) {
    const toml::node* const node = any(key);
    if (node == nullptr)
        return std::nullopt;
    if (const auto* const number = node->as_integer(); number != nullptr && number->get() < 0) {
        refuse(key, fmt::format("{} is less than {}", number->get(), range.min));
        return std::nullopt;
    }
    return in_range(key, whole_number(*node), range, {"a whole number", false, count_to_text});
}

std::optional<std::uint64_t> TableReader::scaled(std::string_view key, Range range, const Form& form) {
    const toml::node* const node = any(key);
    if (node == nullptr)
        return std::nullopt;
    const auto* const text = node->as_string();
    return in_range(key, text != nullptr ? parse_size(text->get()) : whole_number(*node), range, form);
}

std::optional<std::uint64_t> TableReader::amount(std::string_view key, Range range) {
    return scaled(key, range, {"a whole number, perhaps with K, M, G or T behind it", true, count_to_text});
}

std::optional<std::uint64_t> TableReader::size(std::string_view key, Range range) {
    return scaled(key, range, {kSizeForm, true, size_to_text});
}

std::optional<std::chrono::milliseconds> TableReader::duration(std::string_view key, Range range_ms) {
    const toml::node* const node = any(key);
    if (node == nullptr)
        return std::nullopt;
    std::optional<std::uint64_t> ms = whole_number(*node);
    if (const auto* const text = node->as_string()) {
        if (const auto parsed = parse_duration(text->get()))
            ms = static_cast<std::uint64_t>(parsed->count());
    }
    range_ms.max = std::min<std::uint64_t>(range_ms.max, INT64_MAX);
    ms = in_range(key, ms, range_ms, {kDurationForm, true, ms_to_text});
    return ms ? std::optional(std::chrono::milliseconds(*ms)) : std::nullopt;
}

std::optional<std::uint32_t> TableReader::mode(std::string_view key, std::uint32_t bits) {
    const toml::node* const node = any(key);
    if (node == nullptr)
        return std::nullopt;
    std::optional<std::uint32_t> mode;
    if (const auto* const text = node->as_string())
        mode = parse_mode(text->get());
    const auto* const number = node->as_integer();
    if (number != nullptr && (number->flags() & toml::value_flags::format_as_octal) != toml::value_flags::none &&
        number->get() >= 0)
        mode = static_cast<std::uint32_t>(std::min<std::int64_t>(number->get(), UINT32_MAX));
    if (!mode) {
        refuse(key, fmt::format("{} is not a mode in octal digits, as \"0640\" or 0o640", shown(*node)));
        return std::nullopt;
    }
    if ((*mode & ~bits) != 0) {
        refuse(key, fmt::format("{} has other bits than those of {}", shown(*node), mode_to_text(bits)));
        return std::nullopt;
    }
    return mode;
}

std::optional<std::uint32_t> TableReader::account(std::string_view key, std::string_view kind, Account look_up) {
    const toml::node* const node = any(key);
    if (node == nullptr)
        return std::nullopt;
    if (node->is_integer()) {
        const auto id = count(key, {0, kNoId - 1});
        return id ? std::optional(static_cast<std::uint32_t>(*id)) : std::nullopt;
    }
    const auto name = text(key);
    if (!name)
        return std::nullopt;
    const auto id = look_up(*name);
    if (!id)
        refuse(key, fmt::format("this host has no {} '{}'", kind, *name));
    return id;
}

std::optional<std::uint32_t> TableReader::user(std::string_view key) { return account(key, "user", user_id); }
std::optional<std::uint32_t> TableReader::group(std::string_view key) { return account(key, "group", group_id); }

std::optional<std::string> TableReader::text(std::string_view key) {
    const toml::node* const node = any(key);
    if (node == nullptr)
        return std::nullopt;
    if (const auto* const value = node->as_string())
        return value->get();
    refuse(key, fmt::format("{} is {}, not a string", shown(*node), type_of(*node)));
    return std::nullopt;
}

std::optional<std::size_t> TableReader::choice(std::string_view key, std::initializer_list<std::string_view> choices) {
    const auto word = text(key);
    if (!word)
        return std::nullopt;
    const auto* const found = std::find(choices.begin(), choices.end(), *word);
    if (found != choices.end())
        return static_cast<std::size_t>(found - choices.begin());
    refuse(key, fmt::format("'{}' is none of {}", *word, fmt::join(choices, ", ")));
    return std::nullopt;
}

const toml::table* TableReader::table(std::string_view key) {
    const toml::node* const node = any(key);
    if (node == nullptr)
        return nullptr;
    if (node->as_table() == nullptr)
        refuse(key, fmt::format("{} is {}, not a table", shown(*node), type_of(*node)));
    return node->as_table();
}

void TableReader::refuse_unknown_keys(std::string_view hint) {
    for (const auto& [key, node] : table_) {
        const std::string_view name = key.str();
        if (std::find(known_.begin(), known_.end(), name) != known_.end())
            continue;
        std::string what = "unknown key";
        if (const auto meant = closest(name, known_)) {
            what += fmt::format("; is '{}' meant?", *meant);
        } else if (!hint.empty()) {
            what += fmt::format("; {}", hint);
        } else {
            what += fmt::format("; the keys here are {}", fmt::join(known_, ", "));
        }
        problems_.add(key.source(), path_of(name), what);
    }
}

std::optional<std::string_view> closest(std::string_view word, const std::vector<std::string_view>& known) {
    std::optional<std::string_view> best;
    std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
    for (const std::string_view candidate : known) {
        const std::size_t steps = distance(word, candidate);
        if (steps < best_distance) {
            best = candidate;
            best_distance = steps;
        }
    }
    return best;
}

}  // namespace ringmain::daemon
