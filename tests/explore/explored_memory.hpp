// The memory policy under which structures are explored: every operation is a step of the engine that runs, and names
// its caller.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "explore/engine.hpp"
#include "platform/memory.hpp"

namespace ringmain::explore {

struct ExploredMemory {
    /// As large as T, and no more than its first value: what is written to it later is kept beside, by its address.
    template <class T>
    class Atomic {
        static_assert(sizeof(T) <= 8);

    public:
        T load(std::memory_order order, const char* file = __builtin_FILE(),
               int line = __builtin_LINE()) const noexcept {
            return static_cast<T>(engine().load(access(file, line), order));
        }
        void store(T value, std::memory_order order, const char* file = __builtin_FILE(),
                   int line = __builtin_LINE()) noexcept {
            engine().store(access(file, line), word(value), order);
        }
        T exchange(T value, std::memory_order order, const char* file = __builtin_FILE(),
                   int line = __builtin_LINE()) noexcept {
            return change(Operation::exchange, WeakMemory::Change::exchange, value, order, {file, line});
        }
        T fetch_add(T value, std::memory_order order, const char* file = __builtin_FILE(),
                    int line = __builtin_LINE()) noexcept {
            return change(Operation::fetch_add, WeakMemory::Change::add, value, order, {file, line});
        }
        T fetch_sub(T value, std::memory_order order, const char* file = __builtin_FILE(),
                    int line = __builtin_LINE()) noexcept {
            return change(Operation::fetch_sub, WeakMemory::Change::subtract, value, order, {file, line});
        }
        T fetch_or(T value, std::memory_order order, const char* file = __builtin_FILE(),
                   int line = __builtin_LINE()) noexcept {
            return change(Operation::fetch_or, WeakMemory::Change::bit_or, value, order, {file, line});
        }
        T fetch_and(T value, std::memory_order order, const char* file = __builtin_FILE(),
                    int line = __builtin_LINE()) noexcept {
            return change(Operation::fetch_and, WeakMemory::Change::bit_and, value, order, {file, line});
        }
        bool compare_exchange_strong(T& expected, T desired, std::memory_order success, std::memory_order failure,
                                     const char* file = __builtin_FILE(), int line = __builtin_LINE()) noexcept {
            return swap(expected, desired, success, failure, false, {file, line});
        }
        bool compare_exchange_strong(T& expected, T desired, std::memory_order order,
                                     const char* file = __builtin_FILE(), int line = __builtin_LINE()) noexcept {
            return swap(expected, desired, order, failing(order), false, {file, line});
        }
        bool compare_exchange_weak(T& expected, T desired, std::memory_order success, std::memory_order failure,
                                   const char* file = __builtin_FILE(), int line = __builtin_LINE()) noexcept {
            return swap(expected, desired, success, failure, true, {file, line});
        }

    private:
        static Engine& engine() noexcept { return *Engine::current(); }
        static std::uint64_t word(T value) noexcept { return static_cast<std::uint64_t>(value); }
        static std::memory_order failing(std::memory_order order) noexcept {
            if (order == std::memory_order_acq_rel)
                return std::memory_order_acquire;
            return order == std::memory_order_release ? std::memory_order_relaxed : order;
        }
        Access access(const char* file, int line) const noexcept { return {this, sizeof(T), {file, line}}; }
        T change(Operation operation, WeakMemory::Change how, T value, std::memory_order order,
                 Caller caller) noexcept {
            return static_cast<T>(engine().change({this, sizeof(T), caller}, operation, how, word(value), order));
        }
        bool swap(T& expected, T desired, std::memory_order success, std::memory_order failure, bool weak,
                  Caller caller) noexcept {
            std::uint64_t found = word(expected);
            const bool held =
                engine().compare_exchange({this, sizeof(T), caller}, {found, word(desired), success, failure, weak});
            expected = static_cast<T>(found);
            return held;
        }

        T first_;
    };

    template <class M>
    static bool cas16(platform::Word16<M>& word, platform::Halves& expected, platform::Halves desired,
                      const char* file = __builtin_FILE(), int line = __builtin_LINE()) noexcept {
        return Engine::current()->compare_exchange_16({&word.low, 8, {file, line}}, &word.high, expected, desired);
    }
    static void fence(std::memory_order order, const char* file = __builtin_FILE(),
                      int line = __builtin_LINE()) noexcept {
        Engine::current()->fence(order, {file, line});
    }
    static void copy_in(std::byte* shared, const void* from, std::size_t bytes, const char* file = __builtin_FILE(),
                        int line = __builtin_LINE()) noexcept {
        Engine::current()->copy_in(shared, static_cast<const std::byte*>(from), bytes, {file, line});
    }
    static void copy_out(void* to, const std::byte* shared, std::size_t bytes, const char* file = __builtin_FILE(),
                         int line = __builtin_LINE()) noexcept {
        Engine::current()->copy_out(static_cast<std::byte*>(to), shared, bytes, {file, line});
    }
    static void point(const char* name) noexcept { Engine::current()->point(name); }
    static void prefetch_for_write(const void*) noexcept {}
};

static_assert(sizeof(ExploredMemory::Atomic<std::uint64_t>) == 8 && sizeof(ExploredMemory::Atomic<std::uint32_t>) == 4);

}  // namespace ringmain::explore
