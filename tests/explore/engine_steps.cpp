// The steps of threads: each atomic operation as the memory model has it, as a site is weakened, and as a trace tells
// it.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

#include "explore/engine.hpp"

namespace ringmain::explore {

namespace {

std::string hex(std::uint64_t value) {
    char text[24];
    std::snprintf(text, sizeof text, "%#llx", static_cast<unsigned long long>(value));
    return text;
}

// The bytes [first, last) of a word.
constexpr std::uint64_t mask_of(unsigned first, unsigned last) noexcept {
    const std::uint64_t below_last = last == 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << last * 8) - 1;
    return below_last & ~((std::uint64_t{1} << first * 8) - 1);
}

}  // namespace

Site& Engine::reach(const Caller& caller, Operation operation, std::memory_order order) {
    Site& site = sites_.at(caller, operation);
    ++site.reached;
    site.order = order;
    return site;
}

WeakMemory::Location Engine::step_at(const void* address) {
    const WeakMemory::Location location = memory_.find(address);
    if (!memory_.is_calm(location))
        step();
    return location;
}

// Atomics of fewer than 8 bytes lie alone at the beginning of their word.
std::uint64_t Engine::part(const Access& access, std::uint64_t word) const noexcept {
    return word & mask_of(0, access.bytes);
}

// Before the first execution the bytes themselves are written: that is how they are made.
std::uint64_t Engine::seen_outside(const Access& access) {
    if (executing_)
        return part(access, memory_.latest(memory_.find(access.address)));
    std::uint64_t value = 0;
    std::memcpy(&value, access.address, access.bytes);
    return value;
}

void Engine::write_outside(const Access& access, std::uint64_t value) {
    if (executing_) {
        memory_.append(memory_.find(access.address), value);
    } else {
        std::memcpy(const_cast<void*>(access.address), &value, access.bytes);
    }
}

std::uint64_t Engine::load(const Access& access, std::memory_order order) {
    if (outside())
        return seen_outside(access);
    Site& site = reach(access.caller, Operation::load, order);
    const WeakMemory::Location location = step_at(access.address);
    const std::uint64_t word = site.weakening == Weakening::skip
                                   ? memory_.first(location)
                                   : memory_.load(running_, location, weakened(order, site.weakening));
    if (tracing_)
        tell(site, access.address, hex(part(access, word)) + " (" + name_of(order) + ')');
    return part(access, word);
}

void Engine::store(const Access& access, std::uint64_t value, std::memory_order order) {
    if (outside()) {
        write_outside(access, value);
        return;
    }
    Site& site = reach(access.caller, Operation::store, order);
    const WeakMemory::Location location = step_at(access.address);
    scenario_.stores(running_, memory_.address_of(location));
    if (site.weakening != Weakening::skip)
        memory_.store(running_, location, value, weakened(order, site.weakening));
    if (tracing_)
        tell(site, access.address, "= " + hex(value) + " (" + name_of(order) + ')');
}

std::uint64_t Engine::change(const Access& access, Operation operation, WeakMemory::Change how, std::uint64_t operand,
                             std::memory_order order) {
    if (outside()) {
        const std::uint64_t before = seen_outside(access);
        write_outside(access, part(access, WeakMemory::applied(how, before, operand)));
        return before;
    }
    Site& site = reach(access.caller, operation, order);
    const WeakMemory::Location location = step_at(access.address);
    const std::memory_order with = weakened(order, site.weakening);
    std::uint64_t before = 0;
    if (site.weakening == Weakening::skip || site.weakening == Weakening::split) {
        const bool calm = memory_.is_calm(location);  // nobody computes with it
        before = calm ? memory_.latest(location) : memory_.load(running_, location, with);
    }
    if (site.weakening == Weakening::split) {
        step();
        memory_.store(running_, location, WeakMemory::applied(how, before, operand), with);
    } else if (site.weakening != Weakening::skip) {
        before = memory_.change(running_, location, how, operand, with);
    }
    if (tracing_)
        tell_change(site, access.address, part(access, before), part(access, WeakMemory::applied(how, before, operand)),
                    order);
    return part(access, before);
}

bool Engine::compare_exchange(const Access& access, const WeakMemory::Exchange& exchange) {
    if (outside()) {
        const std::uint64_t found = seen_outside(access);
        if (found == exchange.expected)
            write_outside(access, exchange.desired);
        return std::exchange(exchange.expected, found) == found;
    }
    Site& site = reach(access.caller, Operation::compare_exchange, exchange.success);
    site.failure = exchange.failure;
    const WeakMemory::Location location = step_at(access.address);
    const WeakMemory::Exchange with{exchange.expected, exchange.desired, weakened(exchange.success, site.weakening),
                                    weakened(exchange.failure, site.weakening), exchange.weak};
    const std::uint64_t expected = exchange.expected;
    bool held = true;
    if (site.weakening == Weakening::split) {
        held = split_exchange(site, access, location, with);
    } else if (site.weakening != Weakening::skip) {
        held = memory_.compare_exchange(running_, location, with);
    }
    if (tracing_ && held)
        tell_change(site, access.address, expected, exchange.desired, exchange.success);
    if (tracing_ && !held)
        tell(site, access.address,
             "is " + hex(exchange.expected) + ", not " + hex(expected) + " (" + name_of(exchange.failure) + ')');
    return held;
}

bool Engine::split_exchange(const Site& site, const Access& access, WeakMemory::Location location,
                            const WeakMemory::Exchange& exchange) {
    const std::uint64_t found = memory_.load(running_, location, exchange.success);
    if (found != exchange.expected) {
        exchange.expected = found;
        return false;
    }
    if (tracing_)
        tell(site, access.address, "is " + hex(found) + ": half done");
    step();
    memory_.store(running_, location, exchange.desired, exchange.success);
    return true;
}

bool Engine::compare_exchange_16(const Access& low, const void* high, platform::Halves& expected,
                                 platform::Halves desired) {
    const Access upper{high, low.bytes, low.caller};
    if (outside()) {
        const platform::Halves found{seen_outside(low), seen_outside(upper)};
        if (found == expected) {
            write_outside(low, desired.low);
            write_outside(upper, desired.high);
        }
        return std::exchange(expected, found) == found;
    }
    Site& site = reach(low.caller, Operation::cas16, std::memory_order_acq_rel);
    step();
    const WeakMemory::Location at_low = memory_.find(low.address);
    const WeakMemory::Location at_high = memory_.find(high);
    const platform::Halves wanted = expected;
    bool held = true;
    if (site.weakening == Weakening::split) {
        const platform::Halves found{memory_.load(running_, at_low, std::memory_order_acquire),
                                     memory_.load(running_, at_high, std::memory_order_acquire)};
        held = found == expected;
        expected = found;
        step();
        if (held) {
            memory_.store(running_, at_low, desired.low, std::memory_order_release);
            memory_.store(running_, at_high, desired.high, std::memory_order_release);
        }
    } else if (site.weakening != Weakening::skip) {
        held = memory_.compare_exchange_16(running_, at_low, at_high, expected, desired,
                                           weakened(std::memory_order_acq_rel, site.weakening));
    }
    if (tracing_) {
        tell(site, low.address,
             hex(wanted.low) + ',' + hex(wanted.high) +
                 (held ? " -> " + hex(desired.low) + ',' + hex(desired.high)
                       : " is not there but " + hex(expected.low) + ',' + hex(expected.high)));
    }
    return held;
}

// One of seq_cst is a step, whatever is left of it when it is weakened: what its thread has stored may be seen, and
// passed on by others who do not release it, while the fence has not come to its place in the one order, and who dies
// there never brings it there. Any other fence changes only what its own thread knows and passes on: who is left beside
// it is left at the next access just as well.
void Engine::fence(std::memory_order order, const Caller& caller) {
    if (outside())
        return;
    Site& site = reach(caller, Operation::fence, order);
    if (order == std::memory_order_seq_cst)
        step();
    const std::memory_order with = weakened(order, site.weakening);
    if (with != std::memory_order_relaxed)
        memory_.fence(running_, with);
    if (tracing_)
        tell(site, nullptr, name_of(order));
}

void Engine::copy_in(std::byte* shared, const std::byte* from, std::size_t bytes, const Caller& caller) {
    while (bytes != 0) {
        const unsigned first = WeakMemory::shift_of(shared) / 8;
        const unsigned count = static_cast<unsigned>(std::min<std::size_t>(8 - first, bytes));
        std::uint64_t value = 0;
        std::memcpy(reinterpret_cast<std::byte*>(&value) + first, from, count);
        const std::uint64_t mask = mask_of(first, first + count);
        const Access whole{shared - first, 8, caller};
        if (outside()) {
            write_outside(whole, (seen_outside(whole) & ~mask) | value);
        } else {
            Site& site = reach(caller, Operation::copy_in, std::memory_order_relaxed);
            const WeakMemory::Location location = step_at(shared);
            scenario_.stores(running_, memory_.address_of(location));
            if (site.weakening == Weakening::none && count == 8)
                memory_.store(running_, location, value, std::memory_order_relaxed);
            if (site.weakening == Weakening::none && count != 8)
                memory_.store_part(running_, location, value, mask);
            if (tracing_)
                tell(site, whole.address, "= " + hex(value));
        }
        shared += count;
        from += count;
        bytes -= count;
    }
}

void Engine::copy_out(std::byte* to, const std::byte* shared, std::size_t bytes, const Caller& caller) {
    while (bytes != 0) {
        const unsigned first = WeakMemory::shift_of(shared) / 8;
        const unsigned count = static_cast<unsigned>(std::min<std::size_t>(8 - first, bytes));
        std::uint64_t value = 0;
        if (outside()) {
            value = seen_outside({shared - first, 8, caller});
        } else {
            Site& site = reach(caller, Operation::copy_out, std::memory_order_relaxed);
            const WeakMemory::Location location = step_at(shared);
            value = site.weakening == Weakening::none ? memory_.load(running_, location, std::memory_order_relaxed)
                                                      : memory_.first(location);
            if (tracing_)
                tell(site, shared - first, hex(value));
        }
        std::memcpy(to, reinterpret_cast<const std::byte*>(&value) + first, count);
        to += count;
        shared += count;
        bytes -= count;
    }
}

void Engine::point(const char* name) {
    if (tracing_ && !outside())
        note(std::string("comes to ") + name);
}

std::uint64_t Engine::newest(const void* address) {
    const Access access{address, 8, {__FILE__, __LINE__}};
    return executing_ ? memory_.latest(memory_.find(address)) : seen_outside(access);
}

void Engine::note(const std::string& text) {
    if (!tracing_)
        return;
    trace_.push_back((outside() ? std::string("after") : "thread " + std::to_string(running_)) + "      " + text);
}

void Engine::tell(const Site& site, const void* address, const std::string& what) {
    std::string line = "thread " + std::to_string(running_) + "  " + site.where;
    if (address != nullptr)
        line += "  " + scenario_.name_of_location(memory_.address_of(memory_.find(address)));
    line += "  " + what;
    if (memory_.was_stale() && address != nullptr)
        line += "  [not the newest]";
    if (site.weakening != Weakening::none)
        line += std::string("  [") + name_of(site.weakening) + ']';
    trace_.push_back(std::move(line));
}

void Engine::tell_change(const Site& site, const void* address, std::uint64_t from, std::uint64_t to,
                         std::memory_order order) {
    tell(site, address, hex(from) + " -> " + hex(to) + " (" + name_of(order) + ')');
}

}  // namespace ringmain::explore
