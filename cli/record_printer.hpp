// What `ringmain consume` prints: records on standard output, losses and counts on stderr.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "output.hpp"
#include "record_format.hpp"
#include "ringmain/consumer.hpp"
#include "ringmain/queue.hpp"

namespace ringmain::cli {

class RecordPrinter {
public:
    /// Without a format: JSON. `format` must outlive the printer.
    explicit RecordPrinter(const std::optional<RecordFormat>& format) noexcept : format_(format) {}

    [[nodiscard]] Output& output() noexcept { return output_; }
    [[nodiscard]] std::uint64_t records() const noexcept { return records_; }

    /// Buffered; see Output.
    void add(const ConsumerRecord& record);
    /// In JSON also how often it was delivered, and under which name it is answered for.
    void add(const QueueRecord& record);
    void tell_gaps(std::span<const Gap> gaps);
    /// "17 records consumed from trades, 2 gaps with 5 records lost", on stderr.
    void tell_counts(const std::string& topic) const;

private:
    const std::optional<RecordFormat>& format_;
    Output output_;
    std::uint64_t records_ = 0;
    std::uint64_t gaps_ = 0;
    std::uint64_t lost_records_ = 0;
};

}  // namespace ringmain::cli
