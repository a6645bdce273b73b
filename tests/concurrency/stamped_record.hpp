// Records that say who made them and prove that they are whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "concurrency/history.hpp"
#include "partition_log/reader.hpp"
#include "partition_log/record_parts.hpp"

namespace ringmain::test {

/// A value: {producer, length, sequence, checksum}, then bytes that follow from them.
class StampedRecord {
public:
    static constexpr std::size_t kBytesMin = 32;

    explicit StampedRecord(std::size_t bytes_max) : value_(bytes_max) {}

    /// Requires kBytesMin <= bytes <= bytes_max. The parts are views of this object.
    partition_log::RecordParts make(RecordId id, std::size_t bytes) noexcept {
        const std::uint64_t head[3] = {id.producer, bytes, id.sequence};
        std::memcpy(value_.data(), head, sizeof head);
        std::uint64_t state = id.sequence * 0x9e3779b97f4a7c15ULL + id.producer;
        for (std::size_t i = kBytesMin; i < bytes; ++i) {
            state = state * 6364136223846793005ULL + 1442695040888963407ULL;
            value_[i] = static_cast<std::byte>(state >> 56);
        }
        const std::uint64_t sum = checksum(value_.data(), bytes);
        std::memcpy(value_.data() + sizeof head, &sum, sizeof sum);
        partition_log::RecordParts parts;
        parts.value = value_.data();
        parts.value_bytes = static_cast<std::uint32_t>(bytes);
        parts.flags = layout::kNullKey;
        parts.timestamp_ns = static_cast<std::int64_t>(sum >> 1);
        return parts;
    }

    /// Who made the value; nothing if it is not whole.
    [[nodiscard]] static std::optional<RecordId> open(const std::byte* value, std::size_t bytes,
                                                      std::int64_t timestamp_ns) noexcept {
        if (bytes < kBytesMin)
            return std::nullopt;
        std::uint64_t head[4];
        std::memcpy(head, value, sizeof head);
        const bool whole = head[1] == bytes && head[3] == checksum(value, bytes) &&
                           timestamp_ns == static_cast<std::int64_t>(head[3] >> 1);
        if (!whole)
            return std::nullopt;
        return RecordId{static_cast<std::uint32_t>(head[0]), head[2]};
    }

private:
    // FNV-1a over everything but the sum itself.
    static std::uint64_t checksum(const std::byte* value, std::size_t bytes) noexcept {
        std::uint64_t sum = 14695981039346656037ULL;
        for (std::size_t i = 0; i < bytes; ++i) {
            if (i >= 24 && i < kBytesMin)
                continue;
            sum = (sum ^ static_cast<std::uint64_t>(value[i])) * 1099511628211ULL;
        }
        return sum;
    }

    std::vector<std::byte> value_;
};

}  // namespace ringmain::test
