// Upper bounds of the scores and identities of pairs, from the residue counts of their sequences alone: far
// cheaper than an alignment, and never too low. docs/exactness.md has the proof.
#pragma once
#include <cstdint>
#include <vector>

#include "tile.hpp"

namespace tropalign {

/// Pairs whose bounds are requested.
struct BoundRequest {
    Sequences queries, targets;
    const int64_t *query_index, *target_index;
    int64_t n_pairs;
    int n_threads;
};

/// No bound is known: a sequence of more than 32,767 residues, or scores beyond 1,000.
inline constexpr int32_t kNoBound = INT32_MAX;

/// Bound the score of each pair from above. `pays_ends`: the difference of the lengths costs a gap (global, no end
/// free).
void score_bounds(const Scoring &, const BoundRequest &, bool pays_ends, int32_t *bound);

/// Bound the number of columns with two equal residues from above, for each pair.
void identity_bounds(const BoundRequest &, int32_t *bound);

// Lower bound of the score of a global alignment: the score of an alignment without a gap between its pairs of
// residues.

/// For each pair, find the best of some alignments along one diagonal each; stop at the first above `enough`.
///
///     query    AACGTTAC--        diagonal 2: two residues of the target, then pairs, then the rest of either
///     target   --CGTAACGG        sequence against a gap
///
/// `scores` has kLetters numbers per residue of the query.
void score_floors(const int32_t *scores, int32_t open, int32_t extend, const BoundRequest &request,
                  const int32_t *enough, int32_t *floor);

}  // namespace tropalign
