// The view-based memory model: histories, views, and the choice among the messages that a thread may see.
#include "explore/weak_memory.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace ringmain::explore {

namespace {

constexpr std::size_t kMessagesMax = 4096;

// A scenario is too large, or touches what it did not share: nothing that an execution could go on from.
[[noreturn]] void stop(const char* why) {
    std::fprintf(stderr, "explore: %s\n", why);
    std::abort();
}

}  // namespace

void WeakMemory::share(const Region& region) {
    const std::size_t count = region.bytes / 8;
    Words words{region, std::vector<std::uint16_t>(count), std::vector<std::uint32_t>(count), std::vector<bool>(count)};
    for (std::size_t i = 0; i < words.canonical.size(); ++i) {
        std::size_t at = i * 8;
        if (region.alias_bytes != 0 && at >= region.alias_from && at < region.alias_until)
            at = region.alias_from + (at - region.alias_from) % region.alias_bytes;
        words.canonical[i] = static_cast<std::uint32_t>(at / 8);
    }
    words_.push_back(std::move(words));
    messages_.resize(kMessagesMax);
}

void WeakMemory::keep_calm(const Calm& calm) {
    for (Words& words : words_) {
        const auto first = static_cast<std::size_t>(calm.at - words.region.at);
        for (std::size_t at = first; first < words.region.bytes && at < first + calm.bytes; at += 8)
            words.calm[at / 8] = true;
    }
}

void WeakMemory::forget(unsigned threads, unsigned stale_max) noexcept {
    for (std::uint16_t* location : touched_)
        *location = 0;
    touched_.clear();
    const std::size_t bytes = entries() * sizeof(Time);
    for (unsigned i = 0; i < threads; ++i) {
        std::memset(threads_[i].current.times.data(), 0, bytes);
        std::memset(threads_[i].acquired.times.data(), 0, bytes);
        std::memset(threads_[i].released.times.data(), 0, bytes);
    }
    std::memset(fenced_.times.data(), 0, bytes);
    places_used_ = messages_used_ = 0;
    nearly_full_ = false;
    stale_left_ = stale_max;
}

WeakMemory::Location WeakMemory::find(const void* address) {
    const auto* const at = static_cast<const std::byte*>(address);
    for (Words& words : words_) {
        const auto offset = static_cast<std::size_t>(at - words.region.at);
        if (offset >= words.region.bytes)
            continue;
        const std::size_t word = words.canonical[offset / 8];
        const std::uint16_t location = words.locations[word];
        return location != 0 ? location - 1U : touch(words, word);
    }
    stop("an access outside of the memory that the scenario shares");
}

WeakMemory::Location WeakMemory::touch(Words& words, std::size_t word) {
    if (places_used_ == kLocationsMax)
        stop("more locations than kLocationsMax");
    const Location location = places_used_++;
    words.locations[word] = static_cast<std::uint16_t>(location + 1);
    touched_.push_back(&words.locations[word]);
    Place& place = places_[location];
    place.address = words.region.at + word * 8;
    place.count = 0;
    place.calm = words.calm[word];
    Message& first = insert(location, 0);
    std::memcpy(&first.value, place.address, sizeof first.value);
    first.time = 0;
    first.known = 0;
    return location;
}

// Behind the message `after`, or the first.
WeakMemory::Message& WeakMemory::insert(Location location, unsigned after) {
    Place& place = places_[location];
    if (place.count == kHistoryMax || messages_used_ == messages_.size())
        stop("more writes than kHistoryMax or kMessagesMax");
    const unsigned at = place.count == 0 ? 0 : after + 1;
    std::copy_backward(place.messages.begin() + at, place.messages.begin() + place.count,
                       place.messages.begin() + place.count + 1);
    place.messages[at] = static_cast<std::uint16_t>(messages_used_);
    ++place.count;
    nearly_full_ = nearly_full_ || place.count + 4 > kHistoryMax || messages_used_ + 16 > messages_.size();
    Message& added = messages_[messages_used_++];
    added.attached = false;
    return added;
}

unsigned WeakMemory::oldest_visible(unsigned thread, Location location, std::memory_order order) const noexcept {
    Time known = threads_[thread].current.times[location];
    if (order == std::memory_order_seq_cst)
        known = std::max(known, fenced_.times[location]);
    const Place& place = places_[location];
    unsigned index = place.count - 1;
    while (message(place, index).time > known)
        --index;
    return index;
}

bool WeakMemory::fits_after(const Place& place, unsigned index) const noexcept {
    if (index + 1 == place.count)
        return true;
    const Message& next = message(place, index + 1);
    return !next.attached && next.time - message(place, index).time > 1;
}

unsigned WeakMemory::pick_stale(unsigned count) {
    was_stale_ = false;
    if (stale_left_ == 0)
        return 0;
    const unsigned picked = choices_.pick(count, ChoiceKind::stale);
    if (picked != 0) {
        --stale_left_;
        was_stale_ = true;
    }
    return picked;
}

std::uint64_t WeakMemory::take(unsigned thread, Location location, const Message& taken,
                               std::memory_order order) noexcept {
    Thread& by = threads_[thread];
    by.current.times[location] = taken.time;
    if (taken.known != 0) {
        raise(by.acquired, taken.view, taken.known);
        if (acquires(order))
            raise(by.current, taken.view, taken.known);
    }
    if (order == std::memory_order_seq_cst)
        fenced_.times[location] = std::max(fenced_.times[location], taken.time);
    return taken.value;
}

WeakMemory::Message& WeakMemory::put(unsigned thread, Location location, unsigned after, std::uint64_t value,
                                     std::memory_order order) {
    Place& place = places_[location];
    if (place.calm && order != std::memory_order_relaxed)
        stop("a calm word is written in an order");
    const Time before = message(place, after).time;
    const bool newest = after + 1 == place.count;
    const unsigned time = newest ? before + kGap : (before + message(place, after + 1).time) / 2;
    if (time > UINT16_MAX)
        stop("more writes to a location than its times allow");
    Message& added = insert(location, after);
    added.value = value;
    added.time = static_cast<Time>(time);
    Thread& by = threads_[thread];
    by.current.times[location] = by.acquired.times[location] = added.time;
    added.known = static_cast<std::uint16_t>(entries());
    copy(added.view, releases(order) ? by.current : by.released, added.known);
    added.view.times[location] = added.time;
    if (order == std::memory_order_seq_cst)
        fenced_.times[location] = std::max(fenced_.times[location], added.time);
    return added;
}

// Continues the release sequence of what it read.
void WeakMemory::put_rmw(unsigned thread, Location location, unsigned after, std::uint64_t value,
                         std::memory_order order) {
    const Place& place = places_[location];
    const std::uint16_t read = place.messages[after];
    Message& added = put(thread, location, after, value, order);
    added.attached = true;
    raise(added.view, messages_[read].view, messages_[read].known);
}

std::uint64_t WeakMemory::load(unsigned thread, Location location, std::memory_order order) {
    const Place& place = places_[location];
    if (place.calm && place.count != 1)
        stop("a calm word is read that was written");
    const unsigned newest = place.count - 1;
    const unsigned picked = pick_stale(newest - oldest_visible(thread, location, order) + 1);
    return take(thread, location, message(place, newest - picked), order);
}

void WeakMemory::store(unsigned thread, Location location, std::uint64_t value, std::memory_order order) {
    const Place& place = places_[location];
    const unsigned oldest = oldest_visible(thread, location, order);
    std::array<std::uint16_t, kHistoryMax> after;
    unsigned count = 0;
    for (unsigned index = place.count; index-- > oldest;) {
        if (fits_after(place, index))
            after[count++] = static_cast<std::uint16_t>(index);
    }
    put(thread, location, after[pick_stale(count)], value, order);
}

std::uint64_t WeakMemory::change(unsigned thread, Location location, Change how, std::uint64_t operand,
                                 std::memory_order order) {
    const Place& place = places_[location];
    const unsigned oldest = oldest_visible(thread, location, order);
    std::array<std::uint16_t, kHistoryMax> of;
    unsigned count = 0;
    for (unsigned index = place.count; index-- > oldest;) {
        if (fits_after(place, index))
            of[count++] = static_cast<std::uint16_t>(index);
    }
    const unsigned picked = of[pick_stale(count)];
    const std::uint64_t before = take(thread, location, message(place, picked), order);
    put_rmw(thread, location, picked, applied(how, before, operand), order);
    return before;
}

bool WeakMemory::compare_exchange(unsigned thread, Location location, const Exchange& exchange) {
    const Place& place = places_[location];
    const unsigned oldest = oldest_visible(thread, location, exchange.success);
    std::array<std::uint16_t, kHistoryMax + 1> of;
    unsigned count = 0;
    for (unsigned index = place.count; index-- > oldest;) {
        if (message(place, index).value != exchange.expected || fits_after(place, index))
            of[count++] = static_cast<std::uint16_t>(index);
    }
    const bool may_fail = exchange.weak && message(place, place.count - 1U).value == exchange.expected;
    const unsigned picked = pick_stale(count + (may_fail ? 1U : 0U));
    const bool fails = picked == count;  // for no reason, as weak ones may
    const unsigned index = fails ? place.count - 1U : of[picked];
    if (fails || message(place, index).value != exchange.expected) {
        exchange.expected = take(thread, location, message(place, index), exchange.failure);
        return false;
    }
    (void)take(thread, location, message(place, index), exchange.success);
    put_rmw(thread, location, index, exchange.desired, exchange.success);
    return true;
}

bool WeakMemory::compare_exchange_16(unsigned thread, Location low, Location high, platform::Halves& expected,
                                     platform::Halves desired, std::memory_order order) {
    was_stale_ = false;
    const unsigned newest_low = places_[low].count - 1;
    const unsigned newest_high = places_[high].count - 1;
    const platform::Halves found{take(thread, low, message(places_[low], newest_low), order),
                                 take(thread, high, message(places_[high], newest_high), order)};
    if (found != expected) {
        expected = found;
        return false;
    }
    put_rmw(thread, low, newest_low, desired.low, order);
    put_rmw(thread, high, newest_high, desired.high, order);
    // one write: whoever acquires either half has both
    const Time time = message(places_[high], newest_high + 1).time;
    message(places_[low], newest_low + 1).view.times[high] = time;
    return true;
}

void WeakMemory::store_part(unsigned thread, Location location, std::uint64_t value, std::uint64_t mask) {
    was_stale_ = false;
    const unsigned newest = places_[location].count - 1;
    const std::uint64_t whole = (message(places_[location], newest).value & ~mask) | (value & mask);
    put(thread, location, newest, whole, std::memory_order_relaxed);
}

void WeakMemory::fence(unsigned thread, std::memory_order order) noexcept {
    Thread& by = threads_[thread];
    if (acquires(order))
        raise(by.current, by.acquired, entries());
    if (order == std::memory_order_seq_cst) {
        raise(by.current, fenced_, entries());
        copy(fenced_, by.current, entries());
    }
    if (releases(order))
        copy(by.released, by.current, entries());
}

void WeakMemory::join(unsigned thread, unsigned other) noexcept {
    raise(threads_[thread].current, threads_[other].current, entries());
    raise(threads_[thread].acquired, threads_[other].current, entries());
}

std::uint64_t WeakMemory::latest(Location location) const noexcept {
    return message(places_[location], places_[location].count - 1U).value;
}

void WeakMemory::append(Location location, std::uint64_t value) {
    const unsigned newest = places_[location].count - 1;
    const Time before = message(places_[location], newest).time;
    Message& added = insert(location, newest);
    added.value = value;
    added.time = static_cast<Time>(before + kGap);
    added.known = 0;
}

std::uint64_t WeakMemory::applied(Change how, std::uint64_t value, std::uint64_t operand) noexcept {
    switch (how) {
        case Change::add:
            return value + operand;
        case Change::subtract:
            return value - operand;
        case Change::bit_or:
            return value | operand;
        case Change::bit_and:
            return value & operand;
        case Change::exchange:
            break;
    }
    return operand;
}

void WeakMemory::raise(View& view, const View& by, unsigned entries) noexcept {
    for (unsigned i = 0; i < entries; i += kLanes) {
        for (unsigned lane = 0; lane < kLanes; ++lane)
            view.times[i + lane] = std::max(view.times[i + lane], by.times[i + lane]);
    }
}

void WeakMemory::copy(View& to, const View& from, unsigned entries) noexcept {
    std::memcpy(to.times.data(), from.times.data(), entries * sizeof(Time));
}

}  // namespace ringmain::explore
