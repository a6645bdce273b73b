// What the options of `produce` say about each record: key, headers, partition, and how a line becomes key and value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ringmain/record.hpp"
#include "ringmain/topic_options.hpp"

namespace ringmain::cli {

/// Makes records out of lines. The texts given to it, and it itself, must outlive the records.
class RecordTemplate {
public:
    /// The key of every record; may be empty, which is not null. Throws UsageError if it is over the largest key.
    void set_key(std::string_view key);

    /// Key and value are split at its first occurrence; a line without it has a null key. Takes escapes (see
    /// escapes.hpp). Throws UsageError if it is empty.
    void set_delimiter(std::string_view delimiter);

    /// "name=value", split at the first '='; "name" alone has a null value. Throws UsageError for an empty or too
    /// long name.
    void add_header(std::string_view header);

    void set_partition(std::uint32_t partition) noexcept { partition_ = partition; }

    /// An empty value becomes null (a key does not).
    void set_empty_is_null(bool empty_is_null) noexcept { empty_is_null_ = empty_is_null; }

    [[nodiscard]] ProducerRecord from_line(std::string_view line) const;
    [[nodiscard]] ProducerRecord from_value(std::string_view value) const;

    /// No longer line can become a record of at most `record_bytes_max`. It leaves room for a largest key on top, so
    /// that of a line that is somewhat too long the sizes of key and value can be told.
    [[nodiscard]] std::uint64_t line_bytes_max(std::uint64_t record_bytes_max) const noexcept {
        return record_bytes_max + kKeyBytesMax + delimiter_.size();
    }

private:
    std::optional<std::string_view> key_;
    std::string delimiter_;
    std::vector<Header> headers_;
    std::optional<std::uint32_t> partition_;
    bool empty_is_null_ = false;
};

}  // namespace ringmain::cli
