// Where a daemon's configuration comes from: a file, and flags that override it.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "configuration.hpp"

namespace ringmain::daemon {

/// Something in the file that is refused.
struct ConfigurationProblem {
    std::string file;
    std::uint32_t line = 0;  ///< 0: the file as a whole.
    std::uint32_t column = 0;
    std::string key;   ///< The whole path of it, e.g. "topics.orders.records"; may be empty.
    std::string what;  ///< With the value and the limit.
    friend bool operator==(const ConfigurationProblem&, const ConfigurationProblem&) = default;
};
/// "FILE:LINE:COLUMN: KEY: what".
[[nodiscard]] std::string to_string(const ConfigurationProblem& problem);

/// What the command line says; it overrides the file.
struct Flags {
    std::optional<std::filesystem::path> directory;
    std::optional<std::chrono::milliseconds> interval;
    std::optional<LogFormat> log_format;
    std::optional<LogLevel> log_level;
};

struct LoadedConfiguration {
    std::optional<Configuration> configuration;  ///< Nothing: there are problems.
    std::vector<ConfigurationProblem> problems;  ///< All of them, in the order of the file.
};

class ConfigurationSource {
public:
    ConfigurationSource(std::optional<std::filesystem::path> file, Flags flags)
        : file_(std::move(file)), flags_(std::move(flags)) {}

    /// Reads the file anew. Touches nothing. Throws nothing that is not a want of memory.
    [[nodiscard]] LoadedConfiguration load() const;
    [[nodiscard]] const std::optional<std::filesystem::path>& file() const noexcept { return file_; }

private:
    std::optional<std::filesystem::path> file_;
    Flags flags_;
};

}  // namespace ringmain::daemon
