// Reads the values of one TOML table, and says what is wrong with each: where, which key, the value and the limit.
#pragma once

#include <toml++/toml.h>

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "configuration_source.hpp"

namespace ringmain::daemon {

/// Collects what is wrong with a file.
class ProblemList {
public:
    explicit ProblemList(std::string file) : file_(std::move(file)) {}
    void add(const toml::source_region& where, std::string key, std::string what);
    void add_for_file(std::string what) { problems_.push_back({file_, 0, 0, {}, std::move(what)}); }
    [[nodiscard]] bool empty() const noexcept { return problems_.empty(); }
    /// In the order of the file.
    [[nodiscard]] std::vector<ConfigurationProblem> take();

private:
    std::string file_;
    std::vector<ConfigurationProblem> problems_;
};

/// Each reading call answers nothing if the key is not there, and also if it is wrong: that is then a problem in the
/// list.
class TableReader {
public:
    struct Range {
        std::uint64_t min = 0;
        std::uint64_t max = UINT64_MAX;
    };

    /// `path`: how the table is called, "" for the whole file.
    TableReader(const toml::table& table, std::string path, ProblemList& problems)
        : table_(table), path_(std::move(path)), problems_(problems) {}

    [[nodiscard]] std::optional<std::uint64_t> count(std::string_view key, Range range);
    /// As count; a string may have K, M, G or T behind the number.
    [[nodiscard]] std::optional<std::uint64_t> amount(std::string_view key, Range range);
    [[nodiscard]] std::optional<std::uint64_t> size(std::string_view key, Range range);
    [[nodiscard]] std::optional<std::chrono::milliseconds> duration(std::string_view key, Range range_ms);
    /// `bits`: those that it may have.
    [[nodiscard]] std::optional<std::uint32_t> mode(std::string_view key, std::uint32_t bits);
    [[nodiscard]] std::optional<std::uint32_t> user(std::string_view key);
    [[nodiscard]] std::optional<std::uint32_t> group(std::string_view key);
    [[nodiscard]] std::optional<std::string> text(std::string_view key);
    /// The index of the value among `choices`.
    [[nodiscard]] std::optional<std::size_t> choice(std::string_view key,
                                                    std::initializer_list<std::string_view> choices);
    [[nodiscard]] const toml::table* table(std::string_view key);
    /// The node itself, whatever its type.
    [[nodiscard]] const toml::node* any(std::string_view key);

    /// Adds a problem of a key of this table; of the table itself if it has no such key.
    void refuse(std::string_view key, const std::string& what);
    /// Afterwards every key that was not asked for is a problem. `hint`: what to say where no known key is close.
    void refuse_unknown_keys(std::string_view hint = {});
    [[nodiscard]] std::string path_of(std::string_view key) const;

private:
    using Account = std::optional<std::uint32_t> (*)(const std::string&);

    /// How a kind of number is written.
    struct Form {
        std::string_view name;
        bool takes_text;
        std::string (*show)(std::uint64_t);
    };

    [[nodiscard]] std::optional<std::uint64_t> scaled(std::string_view key, Range range, const Form& form);
    [[nodiscard]] std::optional<std::uint64_t> in_range(std::string_view key, std::optional<std::uint64_t> value,
                                                        Range range, const Form& form);
    [[nodiscard]] std::optional<std::uint32_t> account(std::string_view key, std::string_view kind, Account look_up);

    const toml::table& table_;
    std::string path_;
    ProblemList& problems_;
    std::vector<std::string_view> known_;
};

/// The known word that is closest to `word`, if it is close enough to be meant.
[[nodiscard]] std::optional<std::string_view> closest(std::string_view word,
                                                      const std::vector<std::string_view>& known);

}  // namespace ringmain::daemon
