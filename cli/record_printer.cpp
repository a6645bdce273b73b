// Printing consumed records.
#include "record_printer.hpp"

#include <fmt/core.h>

#include "errors.hpp"
#include "numbers.hpp"
#include "record_json.hpp"

namespace ringmain::cli {

void RecordPrinter::add(const ConsumerRecord& record) {
    if (format_) {
        format_->append(output_.buffer(), record);
    } else {
        append_json(output_.buffer(), record);
        output_.buffer().push_back('\n');
    }
    ++records_;
    output_.spill();
}

void RecordPrinter::add(const QueueRecord& record) {
    if (format_)
        return add(record.record);
    std::string& out = output_.buffer();
    append_json(out, record.record);
    out.pop_back();
    out += fmt::format(",\"deliveries\":{},\"lock\":\"{}:{}\",\"lock_ms\":{}}}\n", record.deliveries, record.lock.partition, record.lock.offset,
                       record.lock_left.count());
    ++records_;
    output_.spill();
}

void RecordPrinter::tell_gaps(std::span<const Gap> gaps) {
    for (const Gap& gap : gaps) {
        note("gap: {}[{}] {}..{} {} records {}", gap.topic, gap.partition, gap.from, gap.to, gap.count(), to_string(gap.reason));
        ++gaps_;
        lost_records_ += gap.count();
    }
}

void RecordPrinter::tell_counts(const std::string& topic) const {
    if (gaps_ == 0) {
        note("{} consumed from {}", counted(records_, "record"), topic);
    } else {
        note("{} consumed from {}, {} with {} lost", counted(records_, "record"), topic, counted(gaps_, "gap"),
             counted(lost_records_, "record"));
    }
}

}  // namespace ringmain::cli
