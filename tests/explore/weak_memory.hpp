// Memory as C++20 allows threads to see it: a history of values for each location, and for each thread how far it must
// know each history.
//
// A write puts a message into its location's history (the modification order) with the view that whoever acquires it
// gets. A load may take any message that is not older than what its thread knows. Covered: coherence, release and
// acquire, release sequences through read-modify-writes, fences (acquire, release, seq_cst), seq_cst accesses, writes
// that fall behind others in the modification order, failing compare-exchanges that look at old values. Not covered:
// loads that take a value before it is written (load buffering), which no compiler makes of code without such cycles of
// dependencies.
//
// The values before the first write are those of the plain bytes. Nothing writes to those bytes: forgetting the
// histories is all that it takes to begin anew.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "explore/choices.hpp"
#include "platform/cas16.hpp"

namespace ringmain::explore {

inline constexpr unsigned kThreadsMax = 6;
inline constexpr unsigned kLocationsMax = 512;

[[nodiscard]] constexpr bool acquires(std::memory_order order) noexcept {
    return order == std::memory_order_acquire || order == std::memory_order_acq_rel ||
           order == std::memory_order_seq_cst;
}
[[nodiscard]] constexpr bool releases(std::memory_order order) noexcept {
    return order == std::memory_order_release || order == std::memory_order_acq_rel ||
           order == std::memory_order_seq_cst;
}

/// Bytes that threads share. Words at `at` and `at + alias_bytes` are one and the same from `alias_from` on, as if the
/// same pages were mapped several times; 0: every word is its own.
struct Region {
    std::byte* at = nullptr;
    std::size_t bytes = 0;
    std::size_t alias_from = 0;
    std::size_t alias_bytes = 0;
    std::size_t alias_until = 0;
};

/// Words whose accesses are no steps (Scenario::keep_calm).
struct Calm {
    const std::byte* at = nullptr;
    std::size_t bytes = 0;
};

class WeakMemory {
public:
    using Location = std::uint32_t;
    /// How to change a value: the new one, from the old one.
    enum class Change : std::uint8_t { add, subtract, bit_or, bit_and, exchange };

    explicit WeakMemory(Choices& choices) noexcept : choices_(choices) {}

    void share(const Region& region);
    void keep_calm(const Calm& calm);
    /// Forgets everything that was written. In the execution that follows at most `stale_max` accesses take anything
    /// but the newest.
    void forget(unsigned threads, unsigned stale_max) noexcept;

    /// The location of a word of up to 8 bytes.
    [[nodiscard]] Location find(const void* address);
    [[nodiscard]] static unsigned shift_of(const void* address) noexcept {
        return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(address) & 7U) * 8;
    }
    /// Hardly any more writes can be kept, to some location or to all.
    [[nodiscard]] bool is_nearly_full() const noexcept { return nearly_full_; }
    [[nodiscard]] bool is_calm(Location location) const noexcept { return places_[location].calm; }
    [[nodiscard]] const void* address_of(Location location) const noexcept { return places_[location].address; }

    [[nodiscard]] std::uint64_t load(unsigned thread, Location location, std::memory_order order);
    /// The value before all writes.
    [[nodiscard]] std::uint64_t first(Location location) const noexcept { return message(places_[location], 0).value; }
    void store(unsigned thread, Location location, std::uint64_t value, std::memory_order order);
    /// Returns the value before.
    std::uint64_t change(unsigned thread, Location location, Change how, std::uint64_t operand,
                         std::memory_order order);
    struct Exchange {
        std::uint64_t& expected;
        std::uint64_t desired;
        std::memory_order success;
        std::memory_order failure;
        bool weak = false;
    };
    bool compare_exchange(unsigned thread, Location location, const Exchange& exchange);
    /// Both words at once, always of the newest values.
    bool compare_exchange_16(unsigned thread, Location low, Location high, platform::Halves& expected,
                             platform::Halves desired, std::memory_order order);
    /// Some bytes of a word, as a relaxed store of its own.
    void store_part(unsigned thread, Location location, std::uint64_t value, std::uint64_t mask);
    void fence(unsigned thread, std::memory_order order) noexcept;
    /// Everything that `other` has done or seen happened before what `thread` does now.
    void join(unsigned thread, unsigned other) noexcept;

    /// Of an observer who sees everything and is seen by nobody.
    [[nodiscard]] std::uint64_t latest(Location location) const noexcept;
    void append(Location location, std::uint64_t value);

    /// The last load took an older value than the newest, or the last write was put behind others.
    [[nodiscard]] bool was_stale() const noexcept { return was_stale_; }

    [[nodiscard]] static std::uint64_t applied(Change how, std::uint64_t value, std::uint64_t operand) noexcept;

private:
    using Time = std::uint16_t;
    static constexpr Time kGap = 64;  // between messages when they are written, so that later ones fit in between
    static constexpr unsigned kHistoryMax = 128;
    static constexpr unsigned kLanes = 16;

    struct View {
        alignas(32) std::array<Time, kLocationsMax> times;
    };
    struct Message {
        std::uint64_t value = 0;
        Time time = 0;
        bool attached = false;    // a read-modify-write of the message before it: nothing comes in between
        std::uint16_t known = 0;  // how many entries of the view count
        View view;
    };
    struct Place {
        const void* address = nullptr;
        bool calm = false;
        unsigned count = 0;
        std::array<std::uint16_t, kHistoryMax> messages;  // in modification order
    };
    struct Thread {
        View current;
        View acquired;  // what an acquire fence would add
        View released;  // what relaxed stores carry since the last release fence
    };
    struct Words {
        Region region;
        std::vector<std::uint16_t> locations;  // of each 8 bytes; 0: not touched yet, else location + 1
        std::vector<std::uint32_t> canonical;
        std::vector<bool> calm;
    };

    [[nodiscard]] Message& message(const Place& place, unsigned index) noexcept {
        return messages_[place.messages[index]];
    }
    [[nodiscard]] const Message& message(const Place& place, unsigned index) const noexcept {
        return messages_[place.messages[index]];
    }
    [[nodiscard]] Location touch(Words& words, std::size_t word);
    [[nodiscard]] unsigned oldest_visible(unsigned thread, Location location, std::memory_order order) const noexcept;
    [[nodiscard]] bool fits_after(const Place& place, unsigned index) const noexcept;
    unsigned pick_stale(unsigned count);
    std::uint64_t take(unsigned thread, Location location, const Message& message, std::memory_order order) noexcept;
    Message& put(unsigned thread, Location location, unsigned after, std::uint64_t value, std::memory_order order);
    void put_rmw(unsigned thread, Location location, unsigned after, std::uint64_t value, std::memory_order order);
    [[nodiscard]] Message& insert(Location location, unsigned after);

    [[nodiscard]] unsigned entries() const noexcept { return (places_used_ + kLanes - 1) & ~(kLanes - 1); }
    static void raise(View& view, const View& by, unsigned entries) noexcept;
    static void copy(View& to, const View& from, unsigned entries) noexcept;

    Choices& choices_;
    std::vector<Words> words_;
    std::vector<Place> places_ = std::vector<Place>(kLocationsMax);
    unsigned places_used_ = 0;
    std::vector<std::uint16_t*> touched_;
    std::vector<Message> messages_;
    unsigned messages_used_ = 0;
    bool nearly_full_ = false;
    std::array<Thread, kThreadsMax> threads_{};
    View fenced_{};  // what seq_cst fences and accesses have seen, in their one order
    unsigned stale_left_ = 0;
    bool was_stale_ = false;
};

}  // namespace ringmain::explore
