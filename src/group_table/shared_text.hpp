// Names in shared memory: words, so that a reader never races with a writer, and their hash.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace ringmain::group_table {

/// FNV-1a, 64 bits, never 0: 0 says that there is no name.
[[nodiscard]] constexpr std::uint64_t hash_of(std::string_view name) noexcept {
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const char c : name) hash = (hash ^ static_cast<std::uint8_t>(c)) * 0x100000001b3;
    return hash == 0 ? 1 : hash;
}

/// Requires name.size() <= 8 * Words.
template <class Word, std::size_t Words>
void write_text(std::array<Word, Words>& words, std::string_view name) noexcept {
    for (std::size_t i = 0; i < Words; ++i) {
        std::uint64_t word = 0;
        const std::size_t at = i * sizeof word;
        if (at < name.size()) std::memcpy(&word, name.data() + at, std::min(sizeof word, name.size() - at));
        words[i].store(word, std::memory_order_release);  // release GROUP_FIELD, MEMBER_FIELD
    }
}

/// Whether the words hold exactly this name. Requires name.size() <= 8 * Words.
template <class Word, std::size_t Words>
[[nodiscard]] bool same_text(const std::array<Word, Words>& words, std::string_view name) noexcept {
    for (std::size_t at = 0; at < name.size(); at += sizeof(std::uint64_t)) {
        std::uint64_t wanted = 0;
        std::memcpy(&wanted, name.data() + at, std::min(sizeof wanted, name.size() - at));
        // acquire GROUP_FIELD, MEMBER_FIELD
        if (words[at / sizeof wanted].load(std::memory_order_acquire) != wanted) return false;
    }
    return true;
}

/// `length` is input: whatever it says, no more is read than there is.
template <class Word, std::size_t Words>
[[nodiscard]] std::string read_text(const std::array<Word, Words>& words, std::uint64_t length) {
    std::array<char, Words * sizeof(std::uint64_t)> text{};
    for (std::size_t i = 0; i < Words; ++i) {
        const std::uint64_t word = words[i].load(std::memory_order_acquire);  // acquire GROUP_FIELD, MEMBER_FIELD
        std::memcpy(text.data() + i * sizeof word, &word, sizeof word);
    }
    return {text.data(), static_cast<std::size_t>(std::min<std::uint64_t>(length, text.size()))};
}

}  // namespace ringmain::group_table
