// One number for all sizes and offsets of src/layout: builds whose layouts differ refuse each other's files.
#pragma once

#include <cstdint>
#include <string>

namespace ringmain::layout {

/// Goes into every FileHeader.
[[nodiscard]] std::uint64_t fingerprint() noexcept;

/// What the fingerprint is made of, one line per field: `Struct.field offset size`, and `kConstant value 0` for
/// constants. A golden file of it is compared by a test.
[[nodiscard]] std::string describe_layout();

}  // namespace ringmain::layout
