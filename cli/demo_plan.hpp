// What a run of the demo is going to do, decided before the first process is forked.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "demo.hpp"
#include "demo_telemetry.hpp"
#include "ringmain/topic_options.hpp"

namespace ringmain::cli::demo {

/// What the scan of a CSV file found.
struct CsvFacts {
    std::size_t key_column = 0;
    std::size_t value_column = 0;
    std::string value_name;
    std::uint64_t rows = 0;
    std::uint64_t keys = 0;
};

struct Plan {
    DemoOptions options;
    std::filesystem::path broker;  ///< Set by the stage, which makes the directory.
    std::string topic;
    TopicOptions topic_options;
    std::vector<std::vector<TelemetryFile>> shares;  ///< Telemetry: which files each producer samples.
    CsvFacts csv;
    std::uint32_t victim = 0;        ///< The producer that is killed.
    double paced_rate = 0;           ///< Telemetry: records per second of each producer while it is paced.
    std::int64_t join_after_ns = 0;  ///< When the second consumer joins at the latest.
    std::int64_t kill_after_ns = 0;
    std::int64_t stop_after_ns = 0;  ///< When producers are told to stop.
    std::int64_t csv_pace_ns = 0;    ///< Over how long the file is spread.
    std::uint64_t join_records = 0;  ///< The second consumer joins at once when a partition has so many: later it might
                                     ///< be too late to replay from the first offset.

    [[nodiscard]] bool from_csv() const noexcept { return options.input.has_value(); }
};

/// Looks at the input and decides. Throws UsageError, CsvError, std::system_error.
[[nodiscard]] Plan make_plan(const DemoOptions& options);

/// The producer that publishes a key of a CSV file: always the same one, so that a key's order can be checked end to
/// end.
[[nodiscard]] std::uint32_t producer_of_key(std::string_view key, std::uint32_t producers) noexcept;

}  // namespace ringmain::cli::demo
