// A record of the log in private memory: copied, then checked again, so that nothing of it changes any more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "described_record.hpp"
#include "partition_log/reader.hpp"
#include "platform/memory.hpp"

namespace ringmain {

/// Keeps its memory from one record to the next.
class RecordCopy {
public:
    using Reader = partition_log::Reader<platform::HostMemory>;

    /// record: it is here. Otherwise what else is at the offset; `lapped` also for what went while it was copied.
    [[nodiscard]] partition_log::Found take(const Reader& reader, std::uint64_t offset) {
        const partition_log::Found found = copy(reader, offset);
        if (found != partition_log::Found::record)
            view_ = {};
        return found;
    }

    /// Of what was taken last; without anything if that was no record.
    [[nodiscard]] const partition_log::RecordView& view() const noexcept { return view_; }
    /// Refers to this copy.
    [[nodiscard]] ConsumerRecord describe(std::string_view topic, std::uint32_t partition,
                                          std::uint64_t offset) const noexcept {
        ConsumerRecord record;
        describe_record(view_, static_cast<std::uint32_t>(headers_), topic, partition, offset, record);
        return record;
    }

private:
    [[nodiscard]] partition_log::Found copy(const Reader& reader, std::uint64_t offset) {
        const partition_log::Found found = reader.look(offset, view_);
        if (found == partition_log::Found::nothing && reader.log_start() > offset)
            return partition_log::Found::lapped;
        if (found != partition_log::Found::record)
            return found;
        body_.resize(view_.length);
        reader.copy_body(view_, body_.data());
        if (!reader.valid(offset))
            return partition_log::Found::lapped;
        if (!partition_log::split_body<platform::HostMemory>(view_))
            return partition_log::Found::corrupt;
        headers_ = partition_log::count_headers(view_.headers(), view_.headers_bytes);
        return headers_ < 0 ? partition_log::Found::corrupt : partition_log::Found::record;
    }

    std::vector<std::byte> body_;
    partition_log::RecordView view_;
    std::int64_t headers_ = 0;
};

}  // namespace ringmain
