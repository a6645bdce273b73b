// Reading every byte of a record, and answers that are errors.
#pragma once

#include <cstdint>

#include "ringmain/error.hpp"
#include "ringmain/record.hpp"

namespace ringmain::test {

/// An Error is an answer; anything else goes on its way.
template <class Call>
void attempt(const Call& call) {
    try {
        call();
    } catch (const Error&) {
    }
}

/// Reads all that a record refers to.
[[nodiscard]] inline std::uint64_t touch(const ConsumerRecord& record) {
    std::uint64_t sum = record.offset;
    const auto add = [&sum](Bytes bytes) {
        for (const std::byte one : bytes)
            sum += static_cast<std::uint64_t>(one);
    };
    if (record.key)
        add(*record.key);
    if (record.value)
        add(*record.value);
    if (const auto stamp = record.stamp())
        sum += stamp->sequence;
    for (const Header& header : record.headers) {
        add(as_bytes(header.name));
        if (header.value)
            add(*header.value);
    }
    return sum;
}

}  // namespace ringmain::test
