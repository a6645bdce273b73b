// From lines and options to records.
#include "record_template.hpp"

#include <fmt/core.h>

#include "errors.hpp"
#include "escapes.hpp"

namespace ringmain::cli {

namespace {

constexpr std::size_t kHeaderNameBytesMax = 65'535;

}  // namespace

void RecordTemplate::set_key(std::string_view key) {
    if (key.size() > kKeyBytesMax) {
        throw UsageError(
            fmt::format("-k: key of {} bytes is over the largest key, {} bytes", key.size(), kKeyBytesMax));
    }
    key_ = key;
}

void RecordTemplate::set_delimiter(std::string_view delimiter) {
    if (delimiter.empty())
        throw UsageError("-K: the delimiter is empty");
    delimiter_ = unescape("-K", delimiter);
}

void RecordTemplate::add_header(std::string_view header) {
    const std::size_t equals = header.find('=');
    const std::string_view name = header.substr(0, equals);
    if (name.empty())
        throw UsageError(fmt::format("-H: '{}' has no name before the '='", header));
    if (name.size() > kHeaderNameBytesMax) {
        throw UsageError(
            fmt::format("-H: name of {} bytes is over the longest name, {} bytes", name.size(), kHeaderNameBytesMax));
    }
    OptionalBytes value;
    if (equals != std::string_view::npos)
        value = as_bytes(header.substr(equals + 1));
    headers_.push_back({name, value});
}

ProducerRecord RecordTemplate::from_line(std::string_view line) const {
    if (delimiter_.empty())
        return from_value(line);
    const std::size_t split = line.find(delimiter_);
    if (split == std::string_view::npos)
        return from_value(line);
    ProducerRecord record = from_value(line.substr(split + delimiter_.size()));
    record.key = as_bytes(line.substr(0, split));
    return record;
}

ProducerRecord RecordTemplate::from_value(std::string_view value) const {
    ProducerRecord record;
    if (!value.empty() || !empty_is_null_)
        record.value = as_bytes(value);
    if (key_)
        record.key = as_bytes(*key_);
    record.headers = headers_;
    record.partition = partition_;
    return record;
}

}  // namespace ringmain::cli
