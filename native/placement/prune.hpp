// Selection of the branches and columns that a read has to be scored against, such that its best branches are
// surely among them.
//
// Bounds (bounds.hpp). Eight neighbouring branches share a bound: a read's score with it is at least its score
// with each of the eight, so that eight branches below the score to beat cost one lane, and of a lane only the
// columns that are kept.
//
// Windows. A score of T needs few columns. Call a column costly if none of the eight branches has the gap flag:
// leaving it out costs c = min(gap_open, gap_extend) or more. A bound's kept columns divide the reference: a
// segment is a kept column and the dropped ones behind it; the first segment also has the dropped ones before it.
//
// Lemma. Let an alignment of n bases with a branch of the bound score T or more, its first base in segment b and
// its last one in segment z > b. Then of the kept columns between them fewer than
//
//       room = n + (match n - T) / c
//
// are costly.
//
//       segment  |   b   | b + 1 |  ...  | z - 1 |   z   |
//       bases        x=============================x           x: the first and the last base
//       counted          |<-- costly columns  -->|             before[z] - before[b + 1] < room
//
// Proof. A base adds at most match (no mismatch, gap column or insertion adds anything: can_prune), all of them
// match n. Each column between that is costly and left out subtracts at least c, so that they number at most
// (match n - T) / c. The other costly columns between hold a base each, and the first and the last base are
// elsewhere: at most n - 2.
//
// So an alignment that ends in segment z starts in the first segment b with before[b + 1] > before[z] - room or
// later, where before[k] counts the costly ones of the kept columns left of k. The bound's sweep shows where
// alignments of T or more end (`ends` of ScoreGroup), including reads that hang over the last column.
//
// Scores found in a window are never too high: with free ends, H is never negative, and cells outside the window
// count as 0 (docs/place.md).
//
// Steps, for a read or for each of its strands:
//
// 1. The branches of the eight bounds that the read is likely to fit best (likely_bounds.hpp) are scored in the
//   columns where it is likely to lie. Their n_best-th best score is a floor: lower scores change nothing.
// 2. Groups of 64 bounds are swept, one after another. After each, the eight bounds with the highest upper limits are
//   scored, branch by branch, in the columns where these limits are possible: the n_best-th best score so far is T. A
//   branch is wanted if it scores more than T, or exactly T if that is also the best score: others leave the best
//   branches and the n_best highest scores as they are. Sweeps leave out rows in which no cell can lead to a wanted
//   score (kernels_score.cpp), and use 8-bit lanes if the floor allows it.
// 3. Bounds for which a wanted score is possible, in descending order: their branches are swept without the
//   columns that the bound drops, which takes less than half the columns and is never too low;
// 4. the bounds that remain are scored, eight at a time, and T grows.
//
// The strand whose first group has higher upper limits comes first. The other one is wanted only if it exceeds the
// first one's score, or equals it if it is the read's own strand, which wins ties: its sweeps start with that score,
// and mostly no bound reaches it. If the floor came from the other strand, and the better strand has too few branches
// above it, everything is repeated without a floor.
#pragma once
#include <atomic>

#include "bounds.hpp"
#include "scores.hpp"

namespace tropalign {

/// Score as place_scores does with 8 or 16 bits, but only the better strand of each read. Scores that change
/// nothing are INT32_MIN; all that equal the best one, and the n_best highest, are right. There are n_strands
/// times as many reads: first all in one strand, then, if n_strands is 2, all in the other one. Row k of
/// window[reads][2] is the range of columns that contains the best alignments of read k with its best vector (the
/// first of several); strand[k] is 1 if the other strand scores more. Adds the number of cells computed to
/// `cells`.
bool place_best_scores(const PlaceKernels &, const PlaceScoring &, const ReferencePlanes &, const BranchBounds &,
                       const ReadBatch &, int n_strands, int word_bits, int n_best, int n_threads, int32_t *score,
                       int32_t *window, int8_t *strand, std::atomic<int64_t> &cells, const Poll &poll);

}  // namespace tropalign
