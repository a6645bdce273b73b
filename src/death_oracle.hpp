// Answers of one keeper step to "is this client proven dead?", each asked of the kernel once.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "client_table/client_table.hpp"

namespace ringmain {

/// Remembering "alive" for a step errs on the safe side, and death is for ever. Not thread-safe.
class DeathOracle {
public:
    explicit DeathOracle(const client_table::ClientTable& clients) noexcept : clients_(clients) {}

    [[nodiscard]] bool operator()(std::uint64_t owner) const {
        for (const auto& [known, dead] : answers_) {
            if (known == owner) return dead;
        }
        return answers_.emplace_back(owner, clients_.proven_dead_word(owner)).second;
    }

private:
    const client_table::ClientTable& clients_;
    mutable std::vector<std::pair<std::uint64_t, bool>> answers_;
};

}  // namespace ringmain
