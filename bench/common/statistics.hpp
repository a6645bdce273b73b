// Medians of rounds with their extremes: the only summary that the results use.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <vector>

namespace ringmain::bench {

struct Summary {
    double median = 0;
    double min = 0;
    double max = 0;
};

/// Throws std::invalid_argument for an empty series.
inline Summary summarize(std::vector<double> values) {
    if (values.empty())
        throw std::invalid_argument("a summary of no rounds");
    std::sort(values.begin(), values.end());
    const std::size_t middle = values.size() / 2;
    const double median = values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
    return {median, values.front(), values.back()};
}

}  // namespace ringmain::bench
