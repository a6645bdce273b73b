// The main job: producers, consumers and a killed producer on real input, with every record counted.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace ringmain::cli::demo {

inline constexpr std::uint32_t kPartitions = 3;
inline constexpr std::uint64_t kRecordsPerPartition = 65'536;
inline constexpr std::uint32_t kCellBytes = 128;  ///< A sample with its key and header travels inside its cell.
inline constexpr std::uint32_t kProducersMax = 8;
inline constexpr std::uint32_t kProducerSlots = 16;
inline constexpr std::uint64_t kSecondsMin = 2;
inline constexpr std::uint64_t kSecondsMax = 3'600;

struct DemoOptions {
    /// The broker directory of the demo is made in here and removed at the end; nothing: /dev/shm.
    std::optional<std::filesystem::path> directory;
    std::uint64_t seconds = 12;
    std::uint32_t producers = 3;
    std::optional<std::filesystem::path> input;  ///< A CSV file instead of /proc.
    std::string key_column;
    std::string value_column;  ///< Which column the summaries are about; empty: the first one that holds numbers.
    bool json = false;
};

/// Runs the demo and prints its report. True if every count is right.
/// Throws if it cannot be run to its end: input errors, no space, a child that failed, an interruption.
bool run_demo(const DemoOptions& options);

}  // namespace ringmain::cli::demo
