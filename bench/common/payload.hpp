// What measured records carry: bytes that are written for each record and read back and checked by whoever receives it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>

namespace ringmain::bench {

/// A payload of a size known to the compiler. Eight bytes are the sequence number and its complement. Up to 256 bytes
/// every word is written; larger ones get the first word of each cache line (the copy itself moves all bytes). The
/// words' exclusive-or is zero, the first is the sequence number.
template <std::size_t kBytes>
struct Payload {
    static_assert(kBytes % 8 == 0 && kBytes >= 8);
    static constexpr std::size_t kStep = kBytes <= 256 ? 8 : 64;
    static constexpr std::size_t kWords = kBytes / kStep;
    static constexpr std::uint64_t kMix = 0x9e3779b97f4a7c15;
    static constexpr std::uint64_t kLow32 = 0xffff'ffff;

    static void write(std::byte* out, std::uint64_t sequence) noexcept {
        if constexpr (kWords == 1) {
            const std::uint64_t both = ~sequence << 32 | (sequence & kLow32);
            std::memcpy(out, &both, 8);
            return;
        }
        std::uint64_t all = 0;
        for (std::size_t i = 0; i + 1 < kWords; ++i) {
            const std::uint64_t word = sequence + i * kMix;
            all ^= word;
            std::memcpy(out + i * kStep, &word, 8);
        }
        std::memcpy(out + (kWords - 1) * kStep, &all, 8);
    }

    /// Reads all that was written; answers the sequence number and folds every word into `damage` (0 if intact).
    static std::uint64_t read(const std::byte* in, std::uint64_t& damage) noexcept {
        std::uint64_t sequence = 0;
        std::memcpy(&sequence, in, 8);
        if constexpr (kWords == 1) {
            damage |= (sequence >> 32) ^ (~sequence & kLow32);
            return sequence & kLow32;
        }
        std::uint64_t all = sequence;
        for (std::size_t i = 1; i < kWords; ++i) {
            std::uint64_t word = 0;
            std::memcpy(&word, in + i * kStep, 8);
            all ^= word;
        }
        damage |= all;
        return sequence;
    }
};

/// Checks a stream of payloads from up to kSendersMax senders, each of which numbers its records s, s + senders, ...
template <std::size_t kBytes>
class PayloadCheck {
public:
    static constexpr std::size_t kSendersMax = 8;

    /// `senders` is a power of two. Without `ordered` the records of a sender may arrive in any order.
    explicit PayloadCheck(std::uint64_t senders = 1, bool ordered = true) : mask_(senders - 1), ordered_(ordered) {}

    void operator()(const std::byte* data, std::size_t bytes) noexcept {
        damage_ |= bytes ^ kBytes;
        const std::uint64_t sequence = Payload<kBytes>::read(data, damage_);
        std::uint64_t& next = next_[sequence & mask_ & (kSendersMax - 1)];
        damage_ |= static_cast<std::uint64_t>(ordered_ && sequence < next);
        next = sequence + 1;
        sum_ += sequence;
        ++count_;
    }

    [[nodiscard]] std::uint64_t count() const noexcept { return count_; }

    /// Throws if a payload was torn, out of order or of another size.
    void expect_intact() const {
        if (damage_ != 0)
            throw std::runtime_error("a payload arrived torn, out of order or with another size");
    }
    /// Throws unless exactly the records 0 to `records` - 1 arrived.
    void expect_complete(std::uint64_t records) const {
        expect_intact();
        if (count_ != records || sum_ != records * (records - 1) / 2) {
            throw std::runtime_error("received " + std::to_string(count_) + " of " + std::to_string(records) +
                                     " records");
        }
    }

private:
    std::uint64_t mask_;
    bool ordered_;
    std::uint64_t damage_ = 0;
    std::uint64_t sum_ = 0;
    std::uint64_t count_ = 0;
    std::array<std::uint64_t, kSendersMax> next_{};
};

}  // namespace ringmain::bench
