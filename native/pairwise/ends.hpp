// End of a global or semiglobal alignment: the corner (m, n), or the best cell of the last row or the last column
// if residues may overhang. The sweep yields differences; H along these lines is their running sum.
#pragma once
#include "scoring.hpp"
#include "ties.hpp"

namespace tropalign::TROPALIGN_ISA {

/// H along the last row or the last column of L lanes, up to the current cell, and the best cell so far.
///
///     lane 0  |=================|      score: H in the current cell
///     lane 1  |.....|===========|      the first start[l] cells are padding
template <class T, int L>
struct Line {
    alignas(64) int32_t score[L], best[L], at[L], start[L];  // at: the cell after the best one, with padding

    /// Start lane l's line at cell `first`; `border` is H before its first cell.
    void begin(int l, int32_t first, int32_t border) {
        score[l] = best[l] = border;
        at[l] = start[l] = first;
    }

    /// Add `count` cells starting at cell `from`, L differences of H' each; with `track` the best cell is kept.
    void take(const T *__restrict steps, int from, int count, int32_t extend, bool track) {
        int32_t *__restrict sum = score, *__restrict top = best, *__restrict place = at;
        const int32_t *__restrict first = start;
        for (int k = from; k < from + count; ++k, steps += L)
            for (int l = 0; l < L; ++l) {  // no branch, so that the compiler vectorises it
                const int32_t step = steps[l], s = sum[l] + ((step - extend) & -int32_t{first[l] <= k});
                const int32_t better = -int32_t{later_ends(s, top[l])};
                sum[l] = s;
                if (!track) continue;
                top[l] = (s & better) | (top[l] & ~better);
                place[l] = ((k + 1) & better) | (place[l] & ~better);
            }
    }

    /// Residues of lane l before its best cell.
    int residues(int l) const { return at[l] - start[l]; }
};

/// Return H on the border before a line's first cell: before the last row, all residues of the rows overhang or
/// cost a gap.
inline int32_t border_value(const Scoring &scoring, int32_t residues, bool free_begin) {
    return free_begin ? 0 : -(scoring.open + scoring.extend * residues);
}

/// Set score and end cell of lane l from its two lines; `right` is used only if the rows' end is free.
template <bool Mirrored, class T, int L>
void set_end(const LanePair &pair, const Line<T, L> &bottom, const Line<T, L> &right, int l, LaneResult &out) {
    out.score = bottom.score[l];
    out.row_end = pair.rows.length;
    out.column_end = pair.columns.length;
    if (pair.free_columns_end && bottom.best[l] > out.score)
        out.score = bottom.best[l], out.column_end = bottom.residues(l);
    if (!pair.free_rows_end) return;
    const int row = right.residues(l);
    const bool first = rows_hang_over<Mirrored>(pair.rows.length - row, pair.columns.length - out.column_end);
    if (right.best[l] > out.score || (right.best[l] == out.score && first)) {
        out.score = right.best[l];
        out.row_end = row;
        out.column_end = pair.columns.length;
    }
}

}  // namespace tropalign::TROPALIGN_ISA
