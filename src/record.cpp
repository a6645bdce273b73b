// Decoding a record's headers.
#include "ringmain/record.hpp"

#include <cstring>

#include "group_table/shared_text.hpp"
#include "layout/record_headers.hpp"

namespace ringmain {

// Bytes that do not decode (a visited record that is being overwritten) end the walk: nothing outside them is touched,
// and the visit answers `lapped`.
void Headers::iterator::decode() noexcept {
    layout::HeaderEntry entry;
    if (!layout::decode_header_entry(rest_.data(), rest_.size(), entry)) {
        rest_ = {};
        return;
    }
    const std::byte* name = rest_.data() + layout::kHeaderEntryPrefixBytes;
    header_.name = {reinterpret_cast<const char*>(name), entry.name_length};
    header_.value.reset();
    if (!entry.null_value())
        header_.value = Bytes(name + entry.name_length, entry.value_length);
    entry_bytes_ = static_cast<std::size_t>(entry.bytes());
}

std::optional<Header> Headers::find(std::string_view name) const noexcept {
    for (const Header& header : *this) {
        if (header.name == name)
            return header;
    }
    return std::nullopt;
}

std::optional<ProducerStamp> Headers::stamp() const noexcept {
    if (stamped_ == 0)
        return std::nullopt;
    const std::byte* const at = encoded_.data() + encoded_.size();
    ProducerStamp stamp;
    std::memcpy(&stamp.producer, at, sizeof stamp.producer);
    std::memcpy(&stamp.sequence, at + sizeof stamp.producer, sizeof stamp.sequence);
    return stamp;
}

std::uint64_t producer_id(std::string_view name) noexcept { return group_table::hash_of(name); }

std::string_view to_string(GapReason reason) noexcept {
    switch (reason) {
        case GapReason::overwritten:
            return "overwritten";
        case GapReason::corrupt:
            return "corrupt";
    }
    return "unknown";
}

}  // namespace ringmain
