// Which pairs run side by side on the CPU: units of up to a vector of pairs with little padding.
#pragma once
#include <vector>

#include "tile.hpp"

namespace tropalign {

/// Fewest lanes of a vector.
inline constexpr int kLeastLanes = 16;

struct PlannedUnit {
    int64_t begin;         // of CpuPlan::lanes
    int64_t pairs_before;  // for progress
    int n_lanes;
    bool shared_rows, mirrored;  // all lanes alike; with a matrix that is not symmetric, in query_in_rows, too
};

/// A pair of a unit, its sequences beside it: the request's lists would be read here and there, which costs 20 ns a
/// pair.
struct PlannedLane {
    uint32_t pair, query, target;
    bool query_in_rows;
};

struct CpuPlan {
    std::vector<PlannedUnit> units;   // the costliest first
    std::vector<PlannedLane> lanes;   // unit by unit
    std::vector<int64_t> long_pairs;  // better one at a time, over all threads
    size_t most_bytes = 0;            // what the buffers of a unit take
};

/// Whether a pair that runs alone has its query along the rows (orientation.hpp).
bool query_in_rows_alone(const TileRequest &, int64_t pair);

LanePair lane_pair(const TileRequest &, int64_t pair, bool query_in_rows);
LanePair lane_of(const TileRequest &, int64_t query, int64_t target, bool query_in_rows);

/// unit_bytes: what the buffers of one unit may take. Throws std::length_error when there are more pairs or sequences
/// than can be numbered.
CpuPlan make_plan(const TileRequest &, const Scoring &, const Kernels &, size_t unit_bytes);

}  // namespace tropalign
