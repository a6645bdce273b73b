// Sizes, shares and moments of a run; scanning a CSV file before anything is made.
#include "demo_plan.hpp"

#include <fmt/format.h>

#include <charconv>
#include <functional>
#include <stdexcept>
#include <unordered_set>

#include "demo_csv.hpp"
#include "demo_summary.hpp"
#include "errors.hpp"

namespace ringmain::cli::demo {

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
// 3 x (8 MiB of cells + payload): about half of a container's 64 MiB. Telemetry fits its cells; rows may not.
constexpr std::uint64_t kTelemetryPayloadBytes = 1 << 20;
constexpr std::uint64_t kCsvPayloadBytes = 1 << 22;

bool is_number(std::string_view text) noexcept {
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size();
}

std::size_t choose_value_column(const CsvRow& row, std::size_t key_column) {
    for (std::size_t index = 0; index < row.fields.size(); ++index) {
        if (index != key_column && is_number(row.fields[index]))
            return index;
    }
    return key_column;
}

CsvFacts scan_csv(const DemoOptions& options) {
    CsvReader reader(*options.input);
    CsvFacts facts;
    try {
        facts.key_column = reader.column(options.key_column);
        if (!options.value_column.empty())
            facts.value_column = reader.column(options.value_column);
    } catch (const std::invalid_argument& unknown) {
        throw UsageError(unknown.what());
    }
    std::unordered_set<std::string, TextHash, std::equal_to<>> keys;
    CsvRow row;
    while (reader.next(row)) {
        const std::string_view key = row.fields[facts.key_column];
        if (key.size() > kKeyBytesMax) {
            throw CsvError(options.input->string(), row.line, 1,
                           fmt::format("the key has {} bytes; the limit is {}", key.size(), kKeyBytesMax));
        }
        if (row.number == 1 && options.value_column.empty())
            facts.value_column = choose_value_column(row, facts.key_column);
        if (!keys.contains(key))
            keys.emplace(key);
        ++facts.rows;
    }
    if (facts.rows == 0)
        throw UsageError(fmt::format("{}: there are no rows below the header", options.input->string()));
    facts.keys = keys.size();
    facts.value_name = reader.columns()[facts.value_column];
    return facts;
}

std::vector<std::vector<TelemetryFile>> deal_out(std::vector<TelemetryFile> files, std::uint32_t producers) {
    if (files.size() < producers) {
        throw UsageError(fmt::format("--producers: {} producers, but only {} files below /proc can be read here",
                                     producers, files.size()));
    }
    std::vector<std::vector<TelemetryFile>> shares(producers);
    for (std::size_t index = 0; index < files.size(); ++index)
        shares[index % producers].push_back(files[index]);
    return shares;
}

}  // namespace

Plan make_plan(const DemoOptions& options) {
    Plan plan;
    plan.options = options;
    const auto whole_ns = static_cast<std::int64_t>(options.seconds) * kSecond;
    plan.join_after_ns = whole_ns / 3;
    plan.kill_after_ns = whole_ns / 2;
    plan.stop_after_ns = plan.from_csv() ? 2 * whole_ns : whole_ns;
    plan.csv_pace_ns = whole_ns * 9 / 10;
    plan.victim = options.producers / 2;
    plan.topic = plan.from_csv() ? "rows" : "telemetry";
    plan.topic_options.partitions = kPartitions;
    plan.topic_options.records = kRecordsPerPartition;
    plan.topic_options.cell_bytes = kCellBytes;
    plan.topic_options.payload_bytes = plan.from_csv() ? kCsvPayloadBytes : kTelemetryPayloadBytes;
    plan.topic_options.producer_slots = kProducerSlots;
    plan.topic_options.when_full = WhenFull::block;
    plan.join_records = kRecordsPerPartition / 2;
    if (plan.from_csv()) {
        plan.csv = scan_csv(options);
    } else {
        plan.shares = deal_out(readable_telemetry_files(), options.producers);
        // A third of the ring, so that the first offset is still there when the second consumer joins.
        const double records = static_cast<double>(kRecordsPerPartition * kPartitions) / 3;
        plan.paced_rate = records * 1e9 / static_cast<double>(plan.join_after_ns) / options.producers;
    }
    return plan;
}

std::uint32_t producer_of_key(std::string_view key, std::uint32_t producers) noexcept {
    // Not the partitioner's hash: each producer should publish to every partition.
    return static_cast<std::uint32_t>(std::hash<std::string_view>{}(key) % producers);
}

}  // namespace ringmain::cli::demo
