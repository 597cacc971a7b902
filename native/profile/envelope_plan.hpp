// Which envelopes of a model are computed side by side.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tropalign {

/// The next `n` envelopes, in vectors of 1 << `log_width` quads.
struct UnitPlan {
    int32_t n, log_width;
};

/// Units for envelopes of descending lengths, so that they cost least in all: `cost(n_rows, log_width)` for one of as
/// many rows as its longest envelope has. The widest vectors have 1 << `most_log_width` quads.
template <class Cost>
std::vector<UnitPlan> plan_units(std::span<const int32_t> lengths, int most_log_width, const Cost &cost) {
    const auto n = static_cast<int32_t>(lengths.size());
    std::vector<float> least(n + 1);  // from envelope k on
    std::vector<UnitPlan> best(n);
    for (int32_t k = n - 1; k >= 0; --k) {
        least[k] = cost(lengths[k], 0) + least[k + 1];
        best[k] = {1, 0};
        for (int w = 1; w <= most_log_width; ++w) {
            const float unit = cost(lengths[k], w);
            for (int32_t m = 2; m <= 1 << w && k + m <= n; ++m)
                if (unit + least[k + m] < least[k]) least[k] = unit + least[k + m], best[k] = {m, w};
        }
    }
    std::vector<UnitPlan> plan;
    for (int32_t k = 0; k < n; k += plan.back().n) plan.push_back(best[k]);
    return plan;
}

}  // namespace tropalign
