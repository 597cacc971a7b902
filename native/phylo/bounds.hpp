// Bounds of neighbouring branches: what a read can score with any of them at most.
//
// A bound is a branch made of the best that any of its branches offers in each column: a match outside of a gap column
// if one has it; a free gap if one has the flag. A read scores with it at least what it scores with each of them.
//
// Columns in which all of them have the gap flag, half of all and more, are left out of a bound:
//
//     flags of branch 0     . x x x . . x . .
//     flags of branch 1     . x x . . . x . .          x: the flag
//     kept                  0     1 2 3   4 5
//     follows a dropped one       ^       ^
//
// A base on such a column scores match + on_gap or less. Without the column it is an inserted base, and costs no more
// if every inserted base costs -(match + on_gap) at most: `of_bounds`. Leaving the column out was free; but a gap that
// began with it pays gap_extend, not gap_open, for its next column, and so does any gap that begins with the next kept
// one. An alignment with any of the branches is thereby one with the bound, and scores as much or more. The same holds
// for a branch of the eight by itself, when the bound's dropped columns are left out of it.
#pragma once
#include <cstdint>
#include <vector>

#include "interface.hpp"
#include "likely_bounds.hpp"

namespace tropalign {

inline constexpr int kBranchesPerBound = 8;  // so that a bound's branches are the lanes of one byte of a word

/// The kept columns of a bound, ascending, as columns of ReferencePlanes (without the empty ones).
struct KeptColumns {
    const int32_t *column;         // [n]
    const int32_t *costly_before;  // [n + 1] how many of the earlier ones no branch has the gap flag in (prune.hpp)
    int64_t n;

    /// Whether the column before it was dropped, so that a gap which begins with column k costs as if it went on.
    bool follows_dropped(int64_t k, int n_empty) const { return column[k] != (k ? column[k - 1] + 1 : n_empty); }
};

/// The bounds of all branches, 64 lanes in a group. Those that keep about as many columns share a group; shorter ones
/// begin with columns that offer a free gap and nothing else, in which H stays 0.
struct BranchBounds {
    int64_t n_bounds = 0, n_groups = 0;
    std::vector<int64_t> bound_of_lane, lane_of_bound;  // [64 n_groups] (n_bounds where a lane has none), [n_bounds]
    std::vector<int64_t> n_columns;                     // [n_groups], multiples of kPlaceColumns
    std::vector<int64_t> words_before;                  // [n_groups + 1]
    std::vector<uint64_t> words;                        // of each group [n_columns][n_states + 2], see LanePlanes
    std::vector<int64_t> kept_before;                   // [n_bounds + 1]
    std::vector<int32_t> kept, costly_before;           // [kept_before], [kept_before + bound], see KeptColumns
    LikelyBounds likely;
    int64_t n_vectors = 0, n_reference_columns = 0;  // of the planes that they are made of
    int n_states = 0, n_empty = 0;

    KeptColumns kept_of(int64_t bound) const {
        return {&kept[kept_before[bound]], &costly_before[kept_before[bound] + bound],
                kept_before[bound + 1] - kept_before[bound]};
    }
};

BranchBounds make_bounds(const ReferencePlanes &);

/// Whether bounds hold: H is never negative, nothing scores more than a match, and a match on a gap column scores no
/// more than a mismatch elsewhere.
bool can_prune(const PlaceScoring &);

/// The scores for lanes without some gap columns.
PlaceScoring of_bounds(PlaceScoring);

}  // namespace tropalign
