// Which pairs run side by side: units of up to a vector of pairs with little padding.
#pragma once
#include <vector>

#include "tile.hpp"

namespace tropalign {

struct PlannedUnit {
    int64_t begin;         // its lanes in Plan::rows
    int64_t pairs_before;  // for progress
    int n_lanes;
    bool shared_rows, rows_are_short;
};

struct Plan {
    std::vector<PlannedUnit> units;       // the costliest first
    std::vector<int64_t> rows;            // pairs of the request, unit by unit
    std::vector<uint8_t> rows_are_query;  // a byte a pair, in the order of `rows`
    std::vector<int64_t> long_pairs;      // better one at a time, over all threads
};

LanePair lane_pair(const TileRequest &, int64_t pair, bool rows_are_query);

/// mask_bytes: what the direction masks of one unit may take.
Plan make_plan(const TileRequest &, const Scoring &, int vector_bytes, int64_t mask_bytes);

}  // namespace tropalign
