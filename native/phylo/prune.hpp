// Which branches a read has to be scored against, and in which columns, so that its best branches are surely among them.
//
// Eight neighbouring branches have a bound: a branch made of the best that any of them offers in each column, whose score
// is at least each of theirs. A score of T lies within few columns: a read of n bases ends where the bound's score of reads
// that end there (or of those that hang over the last column) reaches T, and of the columns before, at most n + (match n - T) / gap_extend may lack the gap flag, as each
// that no base stands in costs gap_extend at least. Scores found in fewer columns are never too high, since H is never
// negative (docs/place.md).
#pragma once
#include <atomic>

#include "batch.hpp"

namespace tropalign {

/// Bounds of every eight branches, as lanes, and how many columns without any gap flag begin a strip.
struct BranchBounds {
    std::vector<uint64_t> words;        // [n_groups][n_columns][n_states + 2]
    std::vector<int32_t> closed_before;  // [64 n_groups][n_columns / kPlaceColumns + 1]
    int64_t n_bounds = 0, n_groups = 0;
};

BranchBounds make_bounds(const ReferencePlanes &);

/// Whether bounds hold: H is never negative, and a match on a gap column scores no more than a mismatch elsewhere.
bool can_prune(const PlaceScoring &);

/// As place_scores with 8 or 16 bits, but scores that are surely below the n_best highest are INT32_MIN. window[n_reads][2]: of each
/// read the columns in which its best alignments with its best vector (the first of several) lie. Adds to `cells` what was
/// computed.
bool place_best_scores(const PlaceKernels &, const PlaceScoring &, const ReferencePlanes &, const BranchBounds &,
                       const ReadBatch &, int word_bits, int n_best, int n_threads, int32_t *score, int32_t *window,
                       std::atomic<int64_t> &cells,
                       const std::function<bool(int64_t)> &poll);

}  // namespace tropalign
