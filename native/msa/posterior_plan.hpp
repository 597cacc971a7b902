// Which pairs run side by side: units of pairs that share a sequence.
#pragma once
#include <cstdint>
#include <vector>

namespace tropalign {

/// The pairs order[begin] .. order[begin + n_lanes - 1] share the sequence `row`.
struct PlannedPosteriors {
    int64_t begin;
    int32_t row;
    int n_lanes;
    int64_t cells;  // that are swept: rows times columns of the longest lane
};

struct PosteriorPlan {
    std::vector<int64_t> order;            // pairs, unit after unit
    std::vector<PlannedPosteriors> units;  // the costliest first
};

/// `pairs` is [n_pairs][2], `lengths` are those of the sequences, `lanes` is the most that run side by side.
PosteriorPlan plan_posteriors(const int32_t *pairs, int64_t n_pairs, const std::vector<int32_t> &lengths, int lanes);

}  // namespace tropalign
