// Division of pairs into units that run in parallel on the CPU: up to a vector of pairs with little padding.
#pragma once
#include <vector>

#include "tile.hpp"

namespace tropalign {

/// Minimum number of lanes of a vector.
inline constexpr int kLeastLanes = 16;

struct PlannedUnit {
    int64_t begin;         // index into CpuPlan::lanes
    int64_t pairs_before;  // for progress
    int n_lanes;
    bool shared_rows, mirrored;  // same for all lanes; if the matrix is not symmetric, so is query_in_rows
};

/// A pair of a unit with its sequences: reading the request's lists in random order would cost 20 ns per pair.
struct PlannedLane {
    uint32_t pair, query, target;
    bool query_in_rows;
};

struct CpuPlan {
    std::vector<PlannedUnit> units;  // the costliest first
    Buffer<PlannedLane> lanes;       // unit by unit: n_lanes of them, with room for one per pair
    int64_t n_lanes = 0;
    std::vector<int64_t> long_pairs;  // faster one at a time, over all threads
    size_t most_bytes = 0;            // largest size of the buffers of a unit
};

/// True if a pair that runs alone has its query in the rows (orientation.hpp).
bool query_in_rows_alone(const TileRequest &, int64_t pair);

LanePair lane_pair(const TileRequest &, int64_t pair, bool query_in_rows);
LanePair lane_of(const TileRequest &, int64_t query, int64_t target, bool query_in_rows);

/// Make the plan; unit_bytes: limit for the buffers of one unit. Throws std::length_error if there are more pairs
/// or sequences than can be numbered.
CpuPlan make_plan(const TileRequest &, const Scoring &, const Kernels &, size_t unit_bytes);

}  // namespace tropalign
