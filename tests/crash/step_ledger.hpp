// What was published and what readers saw of it, and whether the two agree.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "partition_log/log_memory.hpp"

namespace ringmain::crash {

using Host = platform::HostMemory;
using Log = partition_log::LogMemory<Host>;

/// A record's value that shows by itself who wrote it, and whether every byte is its own.
[[nodiscard]] constexpr std::uint64_t record_id(std::uint32_t writer, std::uint32_t sequence) noexcept {
    return std::uint64_t{writer} << 32 | sequence;
}
[[nodiscard]] std::string record_value(std::uint64_t id, std::size_t bytes);
[[nodiscard]] std::optional<std::uint64_t> id_of_value(std::string_view value) noexcept;

struct Faults {
    std::uint64_t lost = 0;  // answered ok and not read, nor in a gap that was reported
    std::uint64_t torn = 0;  // bytes that nobody wrote, or an offset that changed its record
    std::uint64_t duplicated = 0;
    std::uint64_t out_of_order = 0;  // a writer's records
    std::uint64_t stuck = 0;         // somebody else had to wait, or what was held did not come back
    [[nodiscard]] bool any() const noexcept { return lost + torn + duplicated + out_of_order + stuck != 0; }
    Faults& operator+=(const Faults& other) noexcept;
};

/// One reader that sees everything, from the first offset on. A value: a copy goes on by itself.
class Ledger {
public:
    explicit Ledger(const Log& log) : first_(log.first_offset), next_(log.first_offset) {}

    void published(std::uint64_t id, std::uint64_t offset) { expected_.emplace_back(id, offset); }

    /// Reads up to the end; a ticket that holds it up is closed after a few looks, as a consumer does.
    void read_on(const Log& log);
    /// Reads everything that is retained once more: it must be what it was.
    void read_again(const Log& log);
    /// At the end: every record that was answered ok was read where it was said to be.
    /// `gaps_allowed`: one that a gap was reported for counts as told.
    void settle(bool gaps_allowed);

    [[nodiscard]] std::uint64_t next() const noexcept { return next_; }
    [[nodiscard]] bool saw(std::uint64_t id) const noexcept;
    [[nodiscard]] Faults& faults() noexcept { return faults_; }

private:
    static constexpr std::uint64_t kSkipped = ~std::uint64_t{0};
    static constexpr std::uint64_t kGap = kSkipped - 1;
    static constexpr int kPatienceLooks = 50;

    void note(std::uint64_t id);
    void note_gap(std::uint64_t log_start);
    bool hold_up(const Log& log, int& looks);

    std::uint64_t first_;
    std::uint64_t next_;
    std::vector<std::uint64_t> seen_;  // by offset
    std::vector<std::pair<std::uint64_t, std::uint64_t>> expected_;
    std::vector<std::uint32_t> last_sequence_ = std::vector<std::uint32_t>(8);  // by writer
    Faults faults_;
};

}  // namespace ringmain::crash
