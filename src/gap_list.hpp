// Losses as they are told: neighbours are one.
#pragma once

#include <vector>

#include "ringmain/record.hpp"

namespace ringmain {

/// Adds the gap, or lets the last one grow by it if it goes on right behind that.
inline void add_gap(std::vector<Gap>& gaps, const Gap& gap) {
    if (!gaps.empty()) {
        Gap& last = gaps.back();
        if (last.partition == gap.partition && last.reason == gap.reason && last.to == gap.from) {
            last.to = gap.to;
            return;
        }
    }
    gaps.push_back(gap);
}

}  // namespace ringmain
