// What a pair can reach at the most, from the letters of its sequences alone: far cheaper than an alignment, and never
// too little. docs/exactness.md says why.
#pragma once
#include <cstdint>
#include <vector>

#include "tile.hpp"

namespace tropalign {

/// Pairs whose bounds are asked for.
struct BoundRequest {
    Sequences queries, targets;
    const int64_t *query_index, *target_index;
    int64_t n_pairs;
    int n_threads;
};

/// No bound is known: a sequence of more than 32,767 residues, or scores beyond 1,000.
inline constexpr int32_t kNoBound = INT32_MAX;

/// The highest score that each pair may have. `pays_ends`: the difference of the lengths costs a gap (global, no end
/// free).
void score_bounds(const Scoring &, const BoundRequest &, bool pays_ends, int32_t *bound);

/// How many columns of each pair may hold two equal letters.
void identity_bounds(const BoundRequest &, int32_t *bound);

// A score that a global alignment has at the least: that of one without a gap between two residues' pairs.

/// The best of some alignments along one diagonal each, the first that is above `enough`, per pair.
///
///     query    AACGTTAC--        diagonal 2: two residues of the target, then pairs, then what is left of either
///     target   --CGTAACGG        sequence against a gap
///
/// `scores` has kLetters numbers per letter of the query.
void score_floors(const int32_t *scores, int32_t open, int32_t extend, const BoundRequest &request,
                  const int32_t *enough, int32_t *floor);

}  // namespace tropalign
