// Which column every base of a read stands in: the way back of chosen reads, each against one branch.
#pragma once
#include "interface.hpp"

namespace tropalign {

/// The state set of every column of one vector, and its gap flag above the last state: [n_columns - n_empty].
void vector_of_lane(const ReferencePlanes &, int64_t vector, uint32_t *out);

/// Column of every base (-1: inserted), laid out as the codes, of each read against its vector; and its score. Only the
/// columns from window[2 k] to window[2 k + 1] are looked at (prune.hpp) by read k.
void place_paths(const PlaceScoring &, const ReferencePlanes &, const ReadBatch &, const int64_t *vector,
                 const int32_t *window, int n_threads, int32_t *column, int32_t *score);

}  // namespace tropalign
