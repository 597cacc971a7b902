// The blocks into which the matrix of one long pair is cut, and the values kept on their borders.
//
//              chunk 0     chunk 1                top(band): v and y, or H and F, of the row above the band
//            +-----------+-----------+            left(chunk): u and x, or H and E, of the column before the chunk
//     band 0 |           |           |
//            +-----------+-----------+            A block needs the values above it and to its left, and leaves such
//     band 1 |           |           |            values to the blocks below and to its right: blocks of an
//            +-----------+-----------+            anti-diagonal are independent.
//
// A path needs all borders, so that the blocks that it crosses can be swept again. A score needs only the latest
// ones: one line of the rows' length and one of the columns', which each block overwrites.
#pragma once
#include <algorithm>
#include <vector>

#include "../simd/vec.hpp"
#include "ranges.hpp"
#include "score_table.hpp"

namespace tropalign::TROPALIGN_ISA {

/// Rows per strip (a lane's share of a band) and columns per chunk.
struct Cut {
    int strip = 64, chunk = 4096;
};

template <class T, int B, Mode M>
class LongBorders {
    static_assert(M == Mode::local || M == Mode::global);
    static constexpr bool kLocal = M == Mode::local;

  public:
    static constexpr int L = Lanes<T, B>::count;

    LongBorders(const Scoring &scoring, const LanePair &pair, Cut cut, const ScoreTable *table)
        : scoring(scoring), pair(pair), table(table), cut(cut), m(pair.rows.length), n(pair.columns.length),
          band_rows(L * cut.strip), bands((m + band_rows - 1) / band_rows), chunks((n + cut.chunk - 1) / cut.chunk),
          floor(static_cast<T>(kLocal ? local_range(scoring, 8 * sizeof(T)).floor : 0)) {
        const size_t per_row = left_lines(scoring, pair, cut) * m, per_column = top_lines(scoring, pair, cut) * n;
        for (auto *side : {&left_value_, &left_gap_}) *side = Buffer<T>(per_row);
        for (auto *side : {&top_value_, &top_gap_}) *side = Buffer<T>(per_column);
        corner_.assign(bands, floor);
        for (int j = 0; j < n; ++j) {
            top_value(0)[j] = outer_value(j, pair.free_columns_begin);
            top_gap(0)[j] = outer_gap();
        }
    }

    static size_t bytes(const Scoring &scoring, const LanePair &pair, Cut cut) {
        return 2 * sizeof(T) *
               (left_lines(scoring, pair, cut) * pair.rows.length +
                top_lines(scoring, pair, cut) * pair.columns.length);
    }

    /// Return the value of the matrix's outer border at the k-th row (its first column) or column.
    T outer_value(int k, bool is_free) const {
        if (kLocal) return floor;
        return static_cast<T>(is_free ? scoring.extend : k == 0 ? -scoring.open : 0);
    }
    T outer_gap() const { return static_cast<T>(kLocal ? floor - scoring.open - scoring.extend : -scoring.open); }

    T *top_value(int band) { return top_value_.data() + (scoring.traced() ? static_cast<size_t>(band) * n : 0); }
    T *top_gap(int band) { return top_gap_.data() + (scoring.traced() ? static_cast<size_t>(band) * n : 0); }
    /// Return the values left of a chunk >= 1; left of chunk 0 is the outer border.
    T *left_value(int chunk) { return left_value_.data() + left_line(chunk); }
    T *left_gap(int chunk) { return left_gap_.data() + left_line(chunk); }
    bool keeps_left(int chunk) const { return chunk < chunks || keeps_last_column(pair); }

    /// Return H above a block's first row in the column before it (local).
    T corner(int band, int chunk) {
        if (band == 0 || chunk == 0) return floor;
        return scoring.traced() ? top_value(band)[static_cast<size_t>(chunk) * cut.chunk - 1] : corner_[band];
    }
    /// Save the corner of the band's next block, whose line above is about to be overwritten.
    void set_corner(int band, T value) { corner_[band] = value; }

    const Scoring &scoring;
    const LanePair &pair;
    const ScoreTable *const table;  // for TableScores; else null
    const Cut cut;
    const int m, n, band_rows, bands, chunks;
    const T floor;

  private:
    static bool keeps_last_column(const LanePair &pair) { return !kLocal && pair.free_rows_end; }

    static size_t left_lines(const Scoring &scoring, const LanePair &pair, Cut cut) {
        const size_t lines = (pair.columns.length - 1) / cut.chunk + keeps_last_column(pair);
        return scoring.traced() ? lines : std::min<size_t>(lines, 1);
    }
    static size_t top_lines(const Scoring &scoring, const LanePair &pair, Cut cut) {
        return scoring.traced() ? (pair.rows.length - 1) / (L * cut.strip) + 2 : 1;
    }
    size_t left_line(int chunk) const { return scoring.traced() ? static_cast<size_t>(chunk - 1) * m : 0; }

    Buffer<T> left_value_, left_gap_, top_value_, top_gap_;
    std::vector<T> corner_;
};

}  // namespace tropalign::TROPALIGN_ISA
