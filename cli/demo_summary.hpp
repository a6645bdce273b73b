// The live summary that a consumer keeps per key, and the check of every key's order.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace ringmain::cli::demo {

/// Lets string-keyed maps be asked with views.
struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept { return std::hash<std::string_view>{}(text); }
};
template <class Value>
using TextMap = std::unordered_map<std::string, Value, TextHash, std::equal_to<>>;

struct KeySummary {
    std::string last;
    std::uint64_t count = 0;
    std::uint64_t sequence = 0;  ///< Of the last record.
    std::uint64_t numbers = 0;   ///< How many values were numbers; min and max are over those.
    double min = 0;
    double max = 0;
};

class Summary {
public:
    /// Takes one record in. The sequence numbers of a key must be 1, 2, 3 …: one that is not above the last is a
    /// violation of the order (or a duplicate), one that jumps leaves missing ones.
    void apply(std::string_view key, std::uint64_t sequence, std::string_view value);

    [[nodiscard]] const TextMap<KeySummary>& keys() const noexcept { return keys_; }
    [[nodiscard]] std::uint64_t violations() const noexcept { return violations_; }
    [[nodiscard]] std::uint64_t missing() const noexcept { return missing_; }
    /// Depends on every field of every key and not on their order: equal summaries have equal digests.
    [[nodiscard]] std::uint64_t digest() const noexcept;

private:
    TextMap<KeySummary> keys_;
    std::uint64_t violations_ = 0;
    std::uint64_t missing_ = 0;
};

}  // namespace ringmain::cli::demo
