// The direction masks of a unit, and the traceback steps through those of one lane.
#pragma once
#include "scoring.hpp"
#include "sweep.hpp"

namespace tropalign::TROPALIGN_ISA {

/// kColumns columns of a row are adjacent, then follows the next row, so that the columns which the sweep takes
/// together are a block. With m = 3, numbers are positions in memory:
///
///     column    0   1   2   3  |  4   5   6   7  |  8 ...
///     row 0     0   1   2   3  | 12  13  14  15  | 24
///     row 1     4   5   6   7  | 16  17  18  19  | 28
///     row 2     8   9  10  11  | 20  21  22  23  | 32
struct MaskLayout {
    int m;
    [[gnu::always_inline]] ptrdiff_t cell(int i, int j) const {
        const int in_block = j & (kColumns - 1);
        return static_cast<ptrdiff_t>(j - in_block) * m + static_cast<ptrdiff_t>(i) * kColumns + in_block;
    }
    /// Number of masks before the first cell that a traceback may read: up to nine rows and columns back.
    static constexpr size_t margin(size_t m) { return m * 4 * kColumns + 9 * (kColumns + 1); }
};

/// Distances in memory to the next cells of one direction in a traceback: the diagonal, E (along the row) or F (up
/// the column). Up to kSteps cells are read in parallel, before it is known how far the traceback goes.
///
/// k steps of `rows` rows and `columns` columns each lead k (columns + rows kColumns) positions back as long as
/// they stay in a block. Each block border crossed adds m - 1 rows of a block, since all its rows are in between:
///
///     places = k (columns + rows kColumns) + borders (m - 1) kColumns
///     borders = (kColumns - 1 - column + k) / kColumns
///
/// with `column` the first cell's within its block. In the picture above, from 16 (row 1, column 4) one diagonal
/// step leads 1 + 4 + (3 - 1) 4 = 13 positions back, to 3 (row 0, column 3).
template <class T, int B>
struct MaskMap {
    static constexpr int kSteps = 8;
    using Steps = ptrdiff_t[kColumns][kSteps + 1];  // bytes back, for a first cell in each column of a block
    const Masks<T, B> *masks;
    MaskLayout layout;
    Steps diagonal, e, f;

    MaskMap(const Masks<T, B> *masks, const MaskLayout &layout) : masks(masks), layout(layout) {
        fill(diagonal, 1, 1), fill(e, 0, 1), fill(f, 1, 0);
    }

  private:
    void fill(Steps &steps, int rows, int columns) {
        for (int column = 0; column < kColumns; ++column)
            for (int k = 0; k <= kSteps; ++k) {
                const ptrdiff_t borders = columns ? (kColumns - 1 - column + k) / kColumns : 0;
                const ptrdiff_t places = k * (columns + rows * kColumns) + borders * (layout.m - 1) * kColumns;
                steps[column][k] = -places * static_cast<ptrdiff_t>(sizeof(Masks<T, B>));
            }
    }
};

/// The cells of one lane in the form that walk_back requires. A few cells of a direction are examined together:
/// their positions are known beforehand, so that their loads run in parallel, and the one that ends a run is found
/// by counting zero bits. Masks before the first row or column are also read (MaskLayout::margin), but ignored.
template <class T, int B, Mode M>
class UnitCells {
    static_assert(M == Mode::local || M == Mode::global);
    static constexpr bool kLocal = M == Mode::local;
    using Map = MaskMap<T, B>;
    static constexpr int kRunSteps = kLocal ? 8 : 4;  // cells of a diagonal examined together; measured
    static constexpr int kGapSteps = 4;               // most gaps are shorter
    static_assert(kRunSteps % kColumns == 0);         // so that the column in the block stays

  public:
    UnitCells(const Scoring &scoring, const Map &map, const LanePair &pair, int row_start, int column_start, int lane)
        : scoring_(scoring), map_(map), pair_(pair), row_shift_(row_start - 1), column_shift_(column_start - 1),
          place_(Masks<T, B>::place(lane)) {}

    void seek(int i, int j) {
        const int column = j + column_shift_;
        in_block_ = column & (kColumns - 1);
        cell_ =
            reinterpret_cast<const uint8_t *>(map_.masks + static_cast<ptrdiff_t>(column - in_block_) * map_.layout.m +
                                              static_cast<ptrdiff_t>(i + row_shift_) * kColumns + in_block_);
    }

    int diagonal_run(int i, int j) {
        const int most = i < j ? i : j;
        const ptrdiff_t *back = map_.diagonal[in_block_];
        for (int run = 0;; run += kRunSteps) {
            if (const unsigned stops = gaps(back, most - run)) {
                const int k = __builtin_ctz(stops);
                move(back, k);
                return run + k;
            }
            cell_ += back[kRunSteps];
        }
    }

    int positive_run(int i, int j, int &left) {
        const uint8_t *row = pair_.rows.codes + i - 1, *column = pair_.columns.codes + j - 1;
        const int most = i < j ? i : j;
        const ptrdiff_t *back = map_.diagonal[in_block_];
        for (int run = 0;; cell_ += back[kRunSteps]) {
            const unsigned stops = gaps(back, most - run);
            const int k = stops ? __builtin_ctz(stops) : kRunSteps, end = run + k;
            for (; run < end && left != 0; ++run) left -= scoring_.score_of(row - run, column - run);
            if (left == 0) return run;
            if (!stops) continue;
            move(back, k);
            return run;
        }
    }

    [[gnu::always_inline]] bool last_wins() const { return bit(cell_, 1); }

    int gap_length(bool is_e, int most) const {
        return is_e ? gap_length(map_.e, 2, most) : gap_length(map_.f, 3, most);
    }

  private:
    [[gnu::always_inline]] unsigned bit(const uint8_t *cell, int k) const {
        return reinterpret_cast<const Masks<T, B> *>(cell)->bit(place_, k);
    }

    /// Return bits: bit k is set if the k-th cell back along the diagonal is entered from a gap, or lies beyond
    /// `most` cells.
    [[gnu::always_inline]] unsigned gaps(const ptrdiff_t *back, int most) const {
        unsigned bits = 0;
#pragma GCC unroll 8
        for (int k = 0; k < kRunSteps; ++k) bits |= bit(cell_ + back[k], 0) << k;
        return bits | (most < kRunSteps ? ~0u << most : 0);
    }

    void move(const ptrdiff_t *back, int k) {
        cell_ += back[k];
        in_block_ = (in_block_ - k) & (kColumns - 1);
    }

    /// Return the length of a gap: it extends as long as the mask `extended` of each previous cell is set.
    int gap_length(const typename Map::Steps &steps, int extended, int most) const {
        const ptrdiff_t *back = steps[in_block_];
        const uint8_t *cell = cell_;
        unsigned ends = 0;
#pragma GCC unroll 4
        for (int k = 1; k <= kGapSteps; ++k) ends |= (1 - bit(cell + back[k], extended)) << k;
        if (most <= kGapSteps) ends |= 1u << most;
        if (ends) return __builtin_ctz(ends);
        int k = kGapSteps + 1;
        for (; k < most; ++k) {
            if (k % Map::kSteps == 0) cell += back[Map::kSteps];
            if (!bit(cell + back[k % Map::kSteps], extended)) break;
        }
        return k;
    }

    const Scoring &scoring_;
    const Map &map_;
    const LanePair &pair_;
    int row_shift_, column_shift_, place_, in_block_ = 0;
    const uint8_t *cell_ = nullptr;
};

}  // namespace tropalign::TROPALIGN_ISA
