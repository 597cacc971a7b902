// Which branches a read has to be scored against, and in which columns, so that its best branches are surely among
// them.
//
// Bounds. Eight neighbouring branches share a bound: a branch made of the best that any of them offers in each column.
// Its score of a read is at least that of each of the eight, so that eight branches below the score to beat cost one
// lane.
//
// Windows. A score of T needs few columns. Call a column costly where none of the eight branches has the gap flag: to
// leave it out costs c = min(gap_open, gap_extend) or more. Strips are kPlaceColumns columns wide.
//
//   Lemma. Let an alignment of n bases with a branch of the bound score T or more, its first base in strip b and its
//   last one in strip z > b. Then of the columns of the strips between them fewer than
//       room = n + (match n - T) / c
//   are costly.
//
//       strip    |   b   | b + 1 |  ...  | z - 1 |   z   |
//       bases        x=============================x           x: the first and the last base
//       counted          |<-- costly columns  -->|             before[z] - before[b + 1] < room
//
//   Proof. A base adds match at most (no mismatch, gap column or insertion adds anything: can_prune), all of them
//   match n. Each column between that is costly and left out takes c or more off, so that at most (match n - T) / c
//   are. The other costly columns between hold a base each, and the first and the last base stand elsewhere: n - 2 at
//   most.
//
// So an alignment that ends in strip z begins in the first strip b with before[b + 1] > before[z] - room or later,
// where before[s] counts the costly columns left of strip s. The bound's sweep tells where alignments of T or more end
// (`ends` of ScoreGroup), reads that hang over the last column included.
//
// Scores found in a window are never too high: with free ends, H is never negative, and what lies outside of the window
// counts as 0 (docs/place.md).
#pragma once
#include <atomic>

#include "scores.hpp"

namespace tropalign {

/// The bounds of all branches, as lanes.
struct BranchBounds {
    std::vector<uint64_t> words;         // [n_groups][n_columns][n_states + 2], see LanePlanes
    std::vector<int32_t> costly_before;  // [64 n_groups][n_columns / kPlaceColumns + 1]: costly columns left of a strip
    int64_t n_bounds = 0, n_groups = 0;
};

BranchBounds make_bounds(const ReferencePlanes &);

/// Whether bounds hold: H is never negative, nothing scores more than a match, and a match on a gap column scores no
/// more than a mismatch elsewhere.
bool can_prune(const PlaceScoring &);

/// As place_scores with 8 or 16 bits, but scores that are surely below the n_best highest are INT32_MIN. Row k of
/// window[n_reads][2] is the range of columns in which the best alignments of read k with its best vector (the first of
/// several) lie. Adds the cells computed to `cells`.
bool place_best_scores(const PlaceKernels &, const PlaceScoring &, const ReferencePlanes &, const BranchBounds &,
                       const ReadBatch &, int word_bits, int n_best, int n_threads, int32_t *score, int32_t *window,
                       std::atomic<int64_t> &cells, const Poll &poll);

}  // namespace tropalign
