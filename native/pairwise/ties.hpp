// Tie rule: docs/scoring.md, "Which alignment, when several score the same". Its whole implementation for the CPU
// is here (for GPUs: at the head of sweep.k); sweep, best_cell, ends, walk and long_pair call these functions.
//
// The rule is stated with the longer sequence in the rows. A kernel may have it in the columns (`Mirrored`): then
// swap rows and columns, E and F in everything below.
//
//  * Step: the diagonal, then E (a gap of the column sequence's residues), then F.
//  * Gap: continues only if that is strictly better than opening it here.
//  * End, local: the smallest column, then the smallest row.
//  * End, semiglobal: the smallest overhang, then that of the rows.
#pragma once
#include "../simd/masks.hpp"

namespace tropalign::TROPALIGN_ISA {

/// Return the best of three predecessors. With Trace also the lanes in which a gap beats the diagonal, and those
/// in which the gap that the rule ranks last beats the others.
template <class T, int B, bool Trace, bool Mirrored>
[[gnu::always_inline]] inline Vec<T, B> best_step(Vec<T, B> diagonal, Vec<T, B> e, Vec<T, B> f, Answer<T, B> &gap_wins,
                                                  Answer<T, B> &last_wins) {
    const Vec<T, B> second = Mirrored ? f : e, last = Mirrored ? e : f, before = vmax(diagonal, second);
    const Vec<T, B> best = vmax(before, last);
    if constexpr (Trace) {
        gap_wins = gt_answer<T, B>(best, diagonal);
        last_wins = gt_answer<T, B>(last, before);
    }
    return best;
}

/// True if the gap from which a cell is entered is E.
template <bool Mirrored>
[[gnu::always_inline]] inline bool step_is_e(bool last_wins) {
    return last_wins == Mirrored;
}

/// Lanes in which a gap continues rather than opens here.
template <class T, int B>
[[gnu::always_inline]] inline Answer<T, B> goes_on(Vec<T, B> extended, Vec<T, B> opened) {
    return gt_answer<T, B>(extended, opened);
}

/// True if cell (row, column) takes precedence over another cell of the same score as the end of a local
/// alignment.
template <bool Mirrored>
inline bool ends_before(int row, int column, int other_row, int other_column) {
    if (Mirrored) return row != other_row ? row < other_row : column < other_column;
    return column != other_column ? column < other_column : row < other_row;
}

/// ends_before in lanes: compares a cell with an equal one in an earlier column.
template <class T, int B, bool Mirrored>
[[gnu::always_inline]] inline Vec<T, B> later_column_ends_before(Vec<T, B> row, Vec<T, B> other_row) {
    if constexpr (Mirrored) return row < other_row;
    else return Vec<T, B>{};
}

/// True if a cell of equal score may still precede the best one when cells arrive column by column.
template <bool Mirrored>
inline constexpr bool kLaterColumnMayEnd = Mirrored;

/// True if a cell further along the last row (or column) precedes an earlier cell as the end: it has the smaller
/// overhang.
[[gnu::always_inline]] inline bool later_ends(int32_t score, int32_t best) { return score >= best; }

/// True if the end that leaves `rows_over` residues of the rows precedes the one that leaves `columns_over` of the
/// columns, at equal scores.
template <bool Mirrored>
inline bool rows_hang_over(int rows_over, int columns_over) {
    return rows_over < columns_over || (rows_over == columns_over && !Mirrored);
}

}  // namespace tropalign::TROPALIGN_ISA
