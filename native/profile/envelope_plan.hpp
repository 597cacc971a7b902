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

/// Units for envelopes of descending lengths, so that rows, which a unit has as many of as its longest envelope, cost
/// least in all. The widest vectors have 1 << `most_log_width` quads; a unit of `n_rows` in vectors of more than one
/// may be made where `fits(n_rows, log_width)`.
template <class Fits>
std::vector<UnitPlan> plan_units(int32_t n_nodes, std::span<const int32_t> lengths, int most_log_width,
                                 const Fits &fits) {
    // What a row takes, measured with AVX-512 and models of 70 to 1,700 nodes: wide rows of many nodes leave the
    // caches.
    constexpr float of_few_nodes[] = {1, 1.15f, 1.4f}, of_many[] = {1, 1.2f, 1.9f};
    const float *costs = n_nodes < 700 ? of_few_nodes : of_many;
    const auto n = static_cast<int32_t>(lengths.size());
    std::vector<float> least(n + 1);  // from envelope k on
    std::vector<UnitPlan> best(n);
    for (int32_t k = n - 1; k >= 0; --k) {
        least[k] = costs[0] * static_cast<float>(lengths[k]) + least[k + 1];
        best[k] = {1, 0};
        for (int w = 1; w <= most_log_width && fits(lengths[k], w); ++w)
            for (int32_t m = 2; m <= 1 << w && k + m <= n; ++m) {
                const float cost = costs[w] * static_cast<float>(lengths[k]) + least[k + m];
                if (cost < least[k]) least[k] = cost, best[k] = {m, w};
            }
    }
    std::vector<UnitPlan> plan;
    for (int32_t k = 0; k < n; k += plan.back().n) plan.push_back(best[k]);
    return plan;
}

}  // namespace tropalign
