// From the lengths that a reader checked to the record that the user sees.
#pragma once

#include <cstdint>
#include <string_view>

#include "partition_log/record_parts.hpp"
#include "ringmain/record.hpp"

namespace ringmain {

/// Fills every field. `headers`: how many there are.
[[gnu::always_inline]] inline void describe_record(const partition_log::RecordView& view, std::uint32_t headers, std::string_view topic,
                                                   std::uint32_t partition, std::uint64_t offset, ConsumerRecord& record) noexcept {
    record.topic = topic;
    record.partition = partition;
    record.offset = offset;
    record.timestamp_ns = view.timestamp_ns;
    record.key.reset();
    record.value.reset();
    if (!view.null_key()) record.key.emplace(view.key(), view.key_bytes);
    if (!view.null_value()) record.value.emplace(view.body, view.value_bytes);
    record.headers = Headers({view.headers(), view.headers_bytes}, headers, (view.flags & layout::kHasStamp) != 0);
}

}  // namespace ringmain
