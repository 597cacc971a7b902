// The cell in which a local alignment ends, updated while the matrix is swept.
#pragma once
#include "ties.hpp"

namespace tropalign::TROPALIGN_ISA {

inline constexpr int kColumns = 4;  // columns of one sweep, and masks of a row that are stored together

/// The best cell of each lane so far; scores as stored (relative to `floor`), ties as in ends_before.
///
/// Cells arrive row by row within a few columns. Cells above a lane's threshold are noted a vector at a time: for
/// each of the columns the highest score and its first row. When the columns are done, the notes are settled lane
/// by lane. Rows are counted within a part of kRows, since `at` has the bits of a lane; each part is settled
/// separately.
///
///     kColumns columns                 begin(threshold)
///     |.|.|.|.|  rows 0..kRows-1       note(h, row), of each row or whenever some lane passes its threshold
///     |.|.|.|.|                        settle(): the best of the four columns against the best so far
///     |.|.|.|.|  the next part         begin, note, settle
template <class T, int B>
struct LocalBest {
    using V = Vec<T, B>;
    static constexpr int kLanes = Lanes<T, B>::count;
    static constexpr int kRows = sizeof(T) == 1 ? 128 : 1 << 15;  // rows that `at` can number
    alignas(64) T score[kLanes];
    int32_t row[kLanes], column[kLanes];
    int32_t first_row = 0;  // of the rows that are swept
    /// True if every row is noted, not only when some lane passes its threshold: one of 64 lanes does so often,
    /// and the branch is mispredicted. Pairs of 51 residues then take 0.11 us with their directions instead of
    /// 0.17, and of 257 residues 1.7 instead of 1.9 (Zen 5). `highest` and `at` take 8 registers; only AVX-512 has that
    /// many to spare.
    static constexpr bool kNotesAll = B == 64;

    /// The notes of one part. (A variable of the sweep whose address is never taken: it stays in registers.)
    struct Noted {
        V highest[kColumns], at[kColumns];

        [[gnu::always_inline]] void begin(V threshold) {
            for (int c = 0; c < kColumns; ++c) highest[c] = threshold, at[c] = V{};
        }

        template <int C>
        [[gnu::always_inline]] void note(const V *h, int row_in_part) {
            const V here = splat<T, B>(static_cast<T>(row_in_part));
#pragma GCC unroll 4
            for (int c = 0; c < C; ++c) {
                const V seen = highest[c];
                at[c] = h[c] > seen ? here : at[c];
                highest[c] = vmax(h[c], seen);
            }
        }
    };

    explicit LocalBest(T floor) {
        for (int l = 0; l < kLanes; ++l) score[l] = floor, row[l] = column[l] = -1;
    }

    /// Threshold for noting a later row, given `top`, the best of the row just noted. It is less than `top`, since an
    /// equal score in a later row may lie in an earlier column, and would then be the end.
    [[gnu::always_inline]] static V still_of_interest(V top) { return top - splat<T, B>(1); }

    /// Threshold for cells of later columns: the best score, or one less if an equal one may still be the end.
    template <bool Mirrored>
    [[gnu::always_inline]] V threshold(V floor) const {
        const V best = load<T, B>(score);
        if constexpr (kLaterColumnMayEnd<Mirrored>) return vmax(best - splat<T, B>(1), floor);
        return best;
    }

    template <int C>
    [[gnu::always_inline]] static void note(Noted &noted, const V *h, int row_in_part, int) {
        noted.template note<C>(h, row_in_part);
    }

    /// Update the best cells with the notes above `threshold`, of the rows from row0 and the columns from j.
    template <int C, bool Mirrored>
    [[gnu::always_inline]] void settle(const Noted &noted, V threshold, int row0, int j) {
        V top = noted.highest[0], rows = noted.at[0], columns{};
#pragma GCC unroll 4
        for (int c = 1; c < C; ++c) {
            const V seen = noted.highest[c], at = noted.at[c];
            const V better = (seen > top) | ((seen == top) & later_column_ends_before<T, B, Mirrored>(at, rows));
            top = better ? seen : top;
            rows = better ? at : rows;
            columns = better ? splat<T, B>(static_cast<T>(c)) : columns;
        }
        keep<Mirrored>(top, rows, columns, threshold, row0, j);
    }

  private:
    template <bool Mirrored>
    [[gnu::noinline]] void keep(V top, V rows, V columns, V threshold, int row0, int j) {
        uint64_t bits = widened(gt_bits<T, B>(top, threshold));
        if (!bits) return;
        alignas(64) T tops[kLanes], row_of[kLanes], column_of[kLanes];
        store<T, B>(tops, top), store<T, B>(row_of, rows), store<T, B>(column_of, columns);
        constexpr int bits_per_lane = Lanes<T, B>::bits_per_lane;
        while (bits) {
            const int l = __builtin_ctzll(bits) / bits_per_lane;
            bits &= ~(((uint64_t{2} << (bits_per_lane - 1)) - 1) << (l * bits_per_lane));
            const int i = first_row + row0 + row_of[l], k = j + column_of[l];
            if (tops[l] > score[l] || (tops[l] == score[l] && ends_before<Mirrored>(i, k, row[l], column[l])))
                score[l] = tops[l], row[l] = i, column[l] = k;
        }
    }
};

}  // namespace tropalign::TROPALIGN_ISA
