// H of all cells of a unit, and the directions of one lane derived from it in a traceback.
//
// H' = H + extend (i + j), for which extending a gap is free, determines all directions. A cell is entered
// diagonally if its H' is that of the cell before plus the score; else it ends a gap. The gap's length is the
// distance to the cell from which it was opened, the nearest one whose H' is higher by `open`:
//
//     k            4   3   2   1   0
//     H'(i,j-k)    5   9   2   1  -1      open = 10: k = 3
//
// No cell between the two has a lower H' than the gap's last one, since that gap may also end there. So a search
// in the wrong direction ends as soon as it meets a lower H', within a step or two.
#pragma once
#include "scoring.hpp"
#include "sweep.hpp"

namespace tropalign::TROPALIGN_ISA {

/// The cells of one lane in the form that walk_back requires. They are stored column by column, a vector of lanes
/// each.
template <class T, int B, Mode M, bool Mirrored>
class ValueCells {
    static_assert(M == Mode::local || M == Mode::global);
    static constexpr bool kLocal = M == Mode::local;
    static constexpr int kAhead = 16;                      // steps of a diagonal that are prefetched
    static constexpr ptrdiff_t kRow = Lanes<T, B>::count;  // numbers from a row to the next

  public:
    /// `values`: of the unit's first lane, m rows. `floor`: the zero of the local mode.
    ValueCells(const Scoring &scoring, const T *values, int m, const LanePair &pair, int row_start, int column_start,
               int lane, T floor)
        : scoring_(scoring), open_(scoring.open), extend_(scoring.extend), column_(m * kRow), pair_(pair),
          origin_(values + lane + (column_start - 1) * column_ + (row_start - 1) * kRow), floor_(floor) {}

    void seek(int i, int j) {
        i_ = i, j_ = j;
        cell_ = origin_ + i * kRow + j * column_;
    }

    int diagonal_run(int i, int j) { return run(i, j); }

    int positive_run(int i, int j, int &left) {
        const int k = run(i, j);
        left = k == std::min(i, j) ? 0 : *cell_ - floor_;
        return k;
    }

    /// True if the gap that the rule ranks first does not end in the cell.
    bool last_wins() {
        length_ = Mirrored ? gap<true>(kRow, i_, above_column(j_)) : gap<true>(column_, j_, left_of_row(i_));
        if (length_ > 0) return false;
        length_ = Mirrored ? gap<false>(column_, j_, 0) : gap<false>(kRow, i_, 0);
        return true;
    }

    int gap_length(bool, int) const { return length_; }

  private:
    /// Return the number of cells from (i, j) up that are entered diagonally, in local mode as long as H is
    /// positive; move to the next cell.
    int run(int i, int j) {
        const uint8_t *row = pair_.rows.codes + i - 1, *column = pair_.columns.codes + j - 1;
        const ptrdiff_t back = -(kRow + column_), inner = 1 - (i < j ? i : j);  // steps that do not lead to a border
        const T *cell = cell_;
        T value = *cell;
        ptrdiff_t k = 0;
        for (; k > inner; --k) {
            __builtin_prefetch(cell + kAhead * back);
            const T before = cell[back];
            if (static_cast<T>(value - before) != static_cast<T>(scoring_.step_of(row + k, column + k))) break;
            if (kLocal && value == floor_) break;
            value = before;
            cell += back;
        }
        cell_ = cell;
        i_ = i + static_cast<int>(k), j_ = j + static_cast<int>(k);
        if (k > inner || (kLocal && value == floor_)) return static_cast<int>(-k);
        const T border = i_ == 1 ? above_column(j_ - 1) : left_of_row(i_ - 1);
        const auto last = static_cast<T>(scoring_.step_of(row + k, column + k));
        return static_cast<int>(-k) + (static_cast<T>(value - border) == last);
    }

    /// Return the length of the gap that ends in the cell, with `back` numbers from one cell to the next; if
    /// Asked, 0 if no gap ends there. At most `most`; beyond that is the border.
    template <bool Asked>
    [[gnu::always_inline]] int gap(ptrdiff_t back, int most, T border) const {
        const T *cell = cell_;
        const T value = *cell;
        int32_t local = value;
        for (int k = 1; k < most; ++k) {
            cell -= back;
            if constexpr (kLocal) local += extend_;
            const int32_t higher = kLocal ? *cell - local : static_cast<T>(*cell - value);
            if (higher == open_) return k;
            if (Asked && higher < 0) return 0;
        }
        if constexpr (kLocal) return Asked ? 0 : most;  // no gap is opened where H is 0
        return !Asked || static_cast<T>(border - value) == open_ ? most : 0;
    }

    /// Values before the first row and column: H as stored (local), or H' (global).
    T left_of_row(int i) const { return border(i, pair_.free_rows_begin); }      // (i, 0)
    T above_column(int j) const { return border(j, pair_.free_columns_begin); }  // (0, j)
    T border(int residues, bool hang_over) const {
        if constexpr (kLocal) return floor_;
        if (residues == 0) return 0;
        return static_cast<T>(hang_over ? residues * extend_ : -open_);
    }

    const Scoring &scoring_;
    const int32_t open_, extend_;
    const ptrdiff_t column_;  // stride from a column to the next, in elements
    const LanePair &pair_;
    const T *origin_, *cell_ = nullptr;
    const T floor_;
    int i_ = 0, j_ = 0, length_ = 0;
};

}  // namespace tropalign::TROPALIGN_ISA
