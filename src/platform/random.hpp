// Random bytes from the kernel: identities, never secrets.
#pragma once

#include <array>
#include <cstdint>

namespace ringmain::platform {

[[nodiscard]] std::uint64_t random_word() noexcept;
[[nodiscard]] std::array<std::uint8_t, 16> random_id() noexcept;

}  // namespace ringmain::platform
