// Keys of orders.
#include "orders_labels.hpp"

#include <charconv>

namespace ringmain::cli::orders {

namespace {

constexpr std::string_view kKeyPrefix = "order-";

}  // namespace

std::optional<std::uint32_t> order_named(std::string_view key) noexcept {
    if (!key.starts_with(kKeyPrefix))
        return std::nullopt;
    const char* const end = key.data() + key.size();
    std::uint32_t order = 0;
    const auto parsed = std::from_chars(key.data() + kKeyPrefix.size(), end, order);
    if (parsed.ec != std::errc() || parsed.ptr != end)
        return std::nullopt;
    return order;
}

}  // namespace ringmain::cli::orders
