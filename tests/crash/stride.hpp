// How a victim is advanced: by instructions, or by what others can see of it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "crash/effects.hpp"
#include "crash/victim.hpp"

namespace ringmain::crash {

enum class StrideUnit : std::uint8_t { instruction, effect, access };

class Stride {
public:
    /// Of a victim that has not made a step; `inherited`: see Effects.
    Stride(Victim& victim, StrideUnit unit, std::span<std::byte> inherited = {}) : victim_(victim) {
        if (unit == StrideUnit::instruction)
            return;
        effects_.emplace(victim, unit == StrideUnit::effect ? Effects::Points::effects : Effects::Points::accesses,
                         inherited);
    }

    /// To where the victim raises SIGTRAP. False if it ended before.
    bool go_to_mark() {
        if (effects_)
            return effects_->go_to_mark();
        return !victim_.resume() && !victim_.done();
    }
    /// Returns how many steps there were before the victim was done.
    std::uint64_t advance(std::uint64_t steps) { return effects_ ? effects_->advance(steps) : victim_.step(steps); }
    /// Lets it go on to the end of the operation. False if it ended otherwise.
    bool resume() { return effects_ ? effects_->resume() : victim_.resume(); }
    /// Where the steps were, if they were effects or accesses.
    [[nodiscard]] std::vector<std::uint64_t> trace() const {
        return effects_ ? effects_->trace() : std::vector<std::uint64_t>();
    }

private:
    Victim& victim_;
    std::optional<Effects> effects_;
};

}  // namespace ringmain::crash
