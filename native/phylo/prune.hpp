// Which branches a read has to be scored against, and in which columns, so that its best branches are surely among
// them.
//
// Bounds (bounds.hpp). Eight neighbouring branches share a bound: its score of a read is at least that of each of the
// eight, so that eight branches below the score to beat cost one lane, and of a lane only the columns that are kept.
//
// Windows. A score of T needs few columns. Call a column costly where none of the eight branches has the gap flag: to
// leave it out costs c = min(gap_open, gap_extend) or more. A bound's kept columns divide the reference: a segment is
// one of them and the dropped ones behind it, the first one has those before it, too.
//
//   Lemma. Let an alignment of n bases with a branch of the bound score T or more, its first base in segment b and its
//   last one in segment z > b. Then of the kept columns between them fewer than
//       room = n + (match n - T) / c
//   are costly.
//
//       segment  |   b   | b + 1 |  ...  | z - 1 |   z   |
//       bases        x=============================x           x: the first and the last base
//       counted          |<-- costly columns  -->|             before[z] - before[b + 1] < room
//
//   Proof. A base adds match at most (no mismatch, gap column or insertion adds anything: can_prune), all of them
//   match n. Each column between that is costly and left out takes c or more off, so that at most (match n - T) / c
//   are. The other costly columns between hold a base each, and the first and the last base stand elsewhere: n - 2 at
//   most.
//
// So an alignment that ends in segment z begins in the first segment b with before[b + 1] > before[z] - room or later,
// where before[k] counts the costly ones of the kept columns left of k. The bound's sweep tells where alignments of T
// or more end (`ends` of ScoreGroup), reads that hang over the last column included.
//
// Scores found in a window are never too high: with free ends, H is never negative, and what lies outside of the window
// counts as 0 (docs/place.md).
//
// Steps, of a read or of each of its strands:
//   1. The branches of the eight bounds that the read is likely to fit best (likely_bounds.hpp) are scored in the
//      columns where it is likely to lie. Their n_best-th best score is a floor: what scores less changes nothing.
//   2. Groups of 64 bounds are swept, one after another. After each the eight bounds that promise most are scored,
//      branch by branch, where they promise it: the n_best-th best score so far is T. A branch is wanted if it scores
//      more, or as much if that is the best score, too: others leave the best branches and the n_best highest scores as
//      they are. Sweeps leave out rows in which no cell can lead to a wanted score (kernels_score.cpp), and lanes of 8
//      bits do where the floor lets them.
//   3. Bounds of which a wanted score is possible, in falling order: their branches are swept without the columns that
//      the bound drops, which takes less than half the columns and is never too low;
//   4. eight bounds that this leaves are scored, and T grows.
// Of two strands the one whose first group promises more comes first. The other one is wanted only where it beats the
// first one's score, or equals it if it is the read's own strand, which wins ties: its sweeps begin with that score,
// and mostly no bound reaches it. Where the better strand turns out to have too few branches above the floor, which was
// the other one's, all is done again without a floor.
#pragma once
#include <atomic>

#include "bounds.hpp"
#include "scores.hpp"

namespace tropalign {

/// Finds what place_scores does with 8 or 16 bits, but of each read's better strand, and scores that change nothing are
/// INT32_MIN: right are all that equal the best one, and the n_best highest. Reads are n_strands times as many: first
/// all in one strand, then all in the other one, if there is one. Row k of window[reads][2] is the range of columns in
/// which the best alignments of read k with its best vector (the first of several) lie; strand[k] is 1 where the other
/// strand scores more. Adds the cells computed to `cells`.
bool place_best_scores(const PlaceKernels &, const PlaceScoring &, const ReferencePlanes &, const BranchBounds &,
                       const ReadBatch &, int n_strands, int word_bits, int n_best, int n_threads, int32_t *score,
                       int32_t *window, int8_t *strand, std::atomic<int64_t> &cells, const Poll &poll);

}  // namespace tropalign
