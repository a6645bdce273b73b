// Last, least, greatest and count per key.
#include "demo_summary.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>

namespace ringmain::cli::demo {

namespace {

bool parse_number(std::string_view text, double& number) noexcept {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size() && std::isfinite(number);
}

std::uint64_t mix(std::uint64_t hash, std::uint64_t word) noexcept {
    hash = (hash ^ word) * 0x9E3779B97F4A7C15U;
    return hash ^ (hash >> 29);
}

std::uint64_t mix(std::uint64_t hash, std::string_view text) noexcept {
    for (const char byte : text)
        hash = mix(hash, static_cast<unsigned char>(byte));
    return mix(hash, text.size());
}

}  // namespace

void Summary::apply(std::string_view key, std::uint64_t sequence, std::string_view value) {
    auto found = keys_.find(key);
    if (found == keys_.end())
        found = keys_.emplace(key, KeySummary{}).first;
    KeySummary& summary = found->second;
    if (sequence <= summary.sequence) {
        ++violations_;
    } else {
        missing_ += sequence - summary.sequence - 1;
        summary.sequence = sequence;
    }
    ++summary.count;
    summary.last.assign(value);
    double number = 0;
    if (!parse_number(value, number))
        return;
    summary.min = summary.numbers == 0 ? number : std::min(summary.min, number);
    summary.max = summary.numbers == 0 ? number : std::max(summary.max, number);
    ++summary.numbers;
}

std::uint64_t Summary::digest() const noexcept {
    std::uint64_t sum = keys_.size();
    for (const auto& [key, summary] : keys_) {
        std::uint64_t hash = mix(mix(0, key), summary.last);
        for (const std::uint64_t word :
             {summary.count, summary.sequence, summary.numbers, std::bit_cast<std::uint64_t>(summary.min),
              std::bit_cast<std::uint64_t>(summary.max)}) {
            hash = mix(hash, word);
        }
        sum += hash;
    }
    return sum;
}

}  // namespace ringmain::cli::demo
