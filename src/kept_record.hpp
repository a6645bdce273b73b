// A record in private memory of its own, for handlers that run while the log goes on.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "record_copy.hpp"
#include "record_encoding.hpp"
#include "ringmain/record.hpp"

namespace ringmain {

class KeptRecord {
public:
    KeptRecord() = default;
    KeptRecord(const KeptRecord&) = delete;
    KeptRecord& operator=(const KeptRecord&) = delete;

    /// Copies the record at the offset. record: it was there from the first byte to the last; else why there is none.
    /// `topic` must outlive the copy.
    [[nodiscard]] partition_log::Found take(const RecordCopy::Reader& reader, std::string_view topic, std::uint32_t partition,
                                            std::uint64_t offset) {
        const partition_log::Found found = copy_.take(reader, offset);
        if (found == partition_log::Found::record)
            record_ = copy_.describe(topic, partition, offset);
        return found;
    }

    /// Copies a record that is valid now. `record.topic` must outlive the copy.
    void take(const ConsumerRecord& record) {
        const std::vector<Header> headers(record.headers.begin(), record.headers.end());
        const std::optional<ProducerStamp> stamp = record.stamp();
        const std::size_t value_bytes = record.value ? record.value->size() : 0;
        const std::size_t key_bytes = record.key ? record.key->size() : 0;
        const std::size_t headers_bytes = encoded_headers_bytes(headers).value_or(0);
        body_.resize(value_bytes + key_bytes + headers_bytes + (stamp ? layout::kStampBytes : 0));
        std::byte* const key = body_.data() + value_bytes;
        std::byte* const encoded = key + key_bytes;
        if (value_bytes != 0)
            std::copy_n(record.value->data(), value_bytes, body_.data());
        if (key_bytes != 0)
            std::copy_n(record.key->data(), key_bytes, key);
        encode_headers(headers, encoded);
        if (stamp)
            write_stamp(encoded + headers_bytes, *stamp);
        record_ = record;
        if (record.value)
            record_.value.emplace(body_.data(), value_bytes);
        if (record.key)
            record_.key.emplace(key, key_bytes);
        record_.headers = Headers({encoded, headers_bytes}, record.headers.size(), stamp.has_value());
    }

    [[nodiscard]] const ConsumerRecord& record() const noexcept { return record_; }

private:
    RecordCopy copy_;
    std::vector<std::byte> body_;
    ConsumerRecord record_;
};

}  // namespace ringmain
