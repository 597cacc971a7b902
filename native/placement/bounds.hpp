// Bounds of neighbouring branches: an upper limit of the score that a read can have with any of them.
//
// A bound is a branch that has, in each column, the best of what its branches offer: a match outside a gap column if
// one of them has it; a free gap if one has the flag. A read's score with it is at least its score with each of them.
//
// Columns in which all of the branches have the gap flag (half of all or more) are left out of a bound:
//
//     flags of branch 0     . x x x . . x . .
//     flags of branch 1     . x x . . . x . .          x: the flag
//     kept                  0     1 2 3   4 5
//     follows a dropped one       ^       ^
//
// A base in such a column scores at most match + on_gap. Without the column it is an inserted base, which costs no
// more if each inserted base costs at most -(match + on_gap): `of_bounds`. Leaving the column out was free, but a gap
// that started with it pays only gap_extend for its next column. So in a bound, every gap that starts with the next
// kept column pays only gap_extend. An alignment with any of the branches is therefore an alignment with the bound that
// scores at least as much. The same holds for a single branch of the eight from which the bound's dropped columns are
// left out.
#pragma once
#include <cstdint>
#include <vector>

#include "interface.hpp"
#include "likely_bounds.hpp"

namespace tropalign {

inline constexpr int kBranchesPerBound = 8;  // a bound's branches are the lanes of one byte of a word

/// The kept columns of a bound, ascending, as columns of ReferencePlanes (without the empty ones).
struct KeptColumns {
    const int32_t *column;         // [n]
    const int32_t *costly_before;  // [n + 1] number of earlier ones in which no branch has the gap flag (prune.hpp)
    int64_t n;

    /// True if the column before kept column k was dropped: a gap that starts with k costs as much as an extended
    /// one.
    bool follows_dropped(int64_t k, int n_empty) const { return column[k] != (k ? column[k - 1] + 1 : n_empty); }
};

/// The bounds of all branches, 64 lanes in a group. Bounds with similar numbers of kept columns share a group;
/// shorter ones start with columns that offer only a free gap, in which H stays 0.
struct BranchBounds {
    int64_t n_bounds = 0, n_groups = 0;
    std::vector<int64_t> bound_of_lane, lane_of_bound;  // [64 n_groups] (n_bounds for an unused lane), [n_bounds]
    std::vector<int64_t> n_columns;                     // [n_groups], multiples of kPlaceColumns
    std::vector<int64_t> words_before;                  // [n_groups + 1]
    std::vector<uint64_t> words;                        // for each group [n_columns][n_states + 2], see LanePlanes
    std::vector<int64_t> kept_before;                   // [n_bounds + 1]
    std::vector<int32_t> kept, costly_before;           // [kept_before], [kept_before + bound], see KeptColumns
    LikelyBounds likely;
    int64_t n_vectors = 0, n_reference_columns = 0;  // sizes of the planes behind the bounds
    int n_states = 0, n_empty = 0;

    KeptColumns kept_of(int64_t bound) const {
        return {&kept[kept_before[bound]], &costly_before[kept_before[bound] + bound],
                kept_before[bound + 1] - kept_before[bound]};
    }
};

BranchBounds make_bounds(const ReferencePlanes &);

/// True if the bounds are valid: H is never negative, nothing scores more than a match, and a match in a gap
/// column scores no more than a mismatch elsewhere.
bool can_prune(const PlaceScoring &);

/// Return the scores to use for lanes without some of the gap columns.
PlaceScoring of_bounds(PlaceScoring);

}  // namespace tropalign
