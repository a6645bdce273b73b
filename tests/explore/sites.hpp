// Where in the source an atomic operation is called, and how it can be weakened there without compiling anew.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace ringmain::explore {

enum class Operation : std::uint8_t {
    load,
    store,
    exchange,
    fetch_add,
    fetch_sub,
    fetch_or,
    fetch_and,
    compare_exchange,
    cas16,
    fence,
    copy_in,
    copy_out,
};
inline constexpr std::size_t kOperations = 12;
[[nodiscard]] const char* name_of(Operation operation) noexcept;
[[nodiscard]] const char* name_of(std::memory_order order) noexcept;

/// The line that called. Several operations of one kind on one line are one site.
struct Caller {
    const char* file;
    int line;
};

enum class Weakening : std::uint8_t {
    none,
    relaxed,     // the order becomes relaxed; a fence is dropped
    no_acquire,  // acq_rel becomes release, seq_cst too
    no_release,  // acq_rel becomes acquire, seq_cst too
    acq_rel,     // seq_cst becomes acq_rel, of a load its acquire, of a store its release: the one order of all is gone
    skip,        // a load answers the value before all writes; a store or a change is not made, and answers that it was
    split,       // a read-modify-write becomes a load and, a step later, a store
};
inline constexpr std::size_t kWeakenings = 7;
[[nodiscard]] const char* name_of(Weakening weakening) noexcept;

struct Site {
    std::string where;  // "partition_log/tickets.hpp:82:compare_exchange"
    Operation operation = Operation::load;
    std::memory_order order = std::memory_order_relaxed;    // as it was seen there last
    std::memory_order failure = std::memory_order_relaxed;  // of a compare_exchange
    std::uint64_t reached = 0;
    Weakening weakening = Weakening::none;
};

/// A site and what to do to it: "partition_log/tickets.hpp:82:compare_exchange=relaxed".
struct Mutation {
    std::string where;
    Weakening weakening = Weakening::none;

    [[nodiscard]] std::string text() const;
    /// None if the text is no mutation.
    [[nodiscard]] static Mutation parse(std::string_view text);
};

/// The order that is left of it.
[[nodiscard]] std::memory_order weakened(std::memory_order order, Weakening weakening) noexcept;

/// All mutations that make a difference at a site.
[[nodiscard]] std::vector<Mutation> mutations_of(const Site& site);

class Sites {
public:
    [[nodiscard]] Site& at(const Caller& caller, Operation operation) {
        const std::size_t slot = slot_of(caller, operation);
        Entry& entry = table_[slot];
        if (entry.file == caller.file && entry.line == caller.line && entry.operation == operation)
            return *entry.site;
        return find(slot, caller, operation);
    }

    /// Applies to every later step. A mutation that is none ends it.
    void mutate(const Mutation& mutation);
    /// Forgets how often each was reached.
    void forget_reached() noexcept;
    [[nodiscard]] std::vector<Site> reached() const;

private:
    struct Entry {
        const char* file = nullptr;
        int line = 0;
        Operation operation = Operation::load;
        Site* site = nullptr;
    };
    static constexpr std::size_t kSlots = 4096;

    [[nodiscard]] static std::size_t slot_of(const Caller& caller, Operation operation) noexcept {
        const auto file = reinterpret_cast<std::uintptr_t>(caller.file);
        return (file * 31 + static_cast<std::size_t>(caller.line) * 16 + static_cast<std::size_t>(operation)) % kSlots;
    }
    [[nodiscard]] Site& find(std::size_t slot, const Caller& caller, Operation operation);
    [[nodiscard]] Site& by_name(const Caller& caller, Operation operation);

    std::array<Entry, kSlots> table_{};
    std::deque<Site> sites_;  // their addresses stay
    Mutation mutation_;
};

}  // namespace ringmain::explore
