// Where a producer's records come from, and how a successor goes on where a killed producer stopped.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string_view>

#include "demo_board.hpp"
#include "demo_plan.hpp"

namespace ringmain::cli::demo {

/// Names of the record headers.
inline constexpr std::string_view kSequenceHeader = "seq";  ///< 1, 2, 3 … per key, as decimal text.
inline constexpr std::string_view kRowHeader = "row";       ///< CSV: the row's number in the file.

struct Outgoing {
    std::string_view key;
    std::string_view value;
    std::uint64_t sequence = 0;
    std::uint64_t row = 0;   ///< 0: there are no rows.
    std::uint64_t line = 0;  ///< Where the row is in the file.
};

/// One producer's share of the input. Every key belongs to one share.
class Source {
public:
    enum class Next : std::uint8_t {
        record,  ///< There is one; its views live until the next call.
        pause,   ///< Nothing is due before pause_time().
        end,     ///< The input is used up.
    };

    virtual ~Source() = default;
    virtual Next next(Outgoing& record) = 0;
    [[nodiscard]] virtual std::chrono::nanoseconds pause_time() const noexcept = 0;
    [[nodiscard]] virtual bool owns(std::string_view key) const noexcept = 0;
    /// Tells a successor what the log has of this share already. Not to be called after next().
    virtual void continue_after(std::string_view key, std::uint64_t sequence, std::uint64_t row) = 0;
    /// CSV: rows walked over, whoever owns them.
    [[nodiscard]] virtual std::uint64_t rows_seen() const noexcept { return 0; }
};

/// Throws std::system_error, CsvError.
[[nodiscard]] std::unique_ptr<Source> make_source(const Plan& plan, const Board& board, std::uint32_t producer);

}  // namespace ringmain::cli::demo
