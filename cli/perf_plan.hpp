// What `ringmain perf` was asked to measure, and what it found.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "bench/common/histogram.hpp"
#include "ringmain/consumer.hpp"
#include "ringmain/topic_options.hpp"

namespace ringmain::cli::perf {

inline constexpr std::uint64_t kSizeMin = 24;  // time, number, and the number again at the end
inline constexpr std::uint64_t kSizeMax = std::uint64_t{1} << 28;
inline constexpr std::uint64_t kProducersMax = 64;
inline constexpr std::uint64_t kCountMax = std::uint64_t{1} << 40;
inline constexpr std::uint64_t kSecondsMax = 3600;
inline constexpr std::uint64_t kRateMax = 100'000'000;

struct Plan {
    std::uint64_t size = 40;
    std::uint64_t count = 0;  ///< Records of all producers together; 0: as many as `seconds` allows.
    std::uint64_t seconds = 5;
    std::uint64_t rate = 0;  ///< Records a second of all producers together; 0: as fast as they can.
    std::uint32_t producers = 1;
    std::uint32_t partitions = 1;
    std::uint32_t cell_bytes = 128;
    WhenFull when_full = WhenFull::block;
    WaitStrategy wait = WaitStrategy::spin;
    bool exclusive = false;
    bool json = false;

    std::filesystem::path broker;
    std::vector<int> cpus;  ///< One for each process: where the consumer and then the producers run; -1: anywhere.
    [[nodiscard]] int cpu(std::size_t process) const { return cpus.at(process); }
};

/// The machine's own limits, measured just before.
struct Limits {
    double ping_pong_ns = 0;      ///< Half a round trip of one cache line.
    double lines_per_s = 0;       ///< 64-byte lines through 256 KiB.
    double bulk_bytes_per_s = 0;  ///< 16 KiB blocks through 16 MiB.
    double wake_ns = 0;           ///< From a futex wake to the woken process running.
};

struct Throughput {
    std::uint64_t published = 0;
    std::uint64_t received = 0;
    std::uint64_t lost = 0;  ///< By the overwrite policy; the consumer was told.
    double seconds = 0;      ///< From the first record received to the last.
    [[nodiscard]] double records_per_s() const noexcept {
        return seconds > 0 ? static_cast<double>(received) / seconds : 0;
    }
};

struct Results {
    std::optional<Limits> limits;
    std::optional<Throughput> throughput;
    bench::Histogram latency_ns;
    bool open_loop = false;  ///< The latency is from the intended time of sending; otherwise half a round trip.
};

}  // namespace ringmain::cli::perf
