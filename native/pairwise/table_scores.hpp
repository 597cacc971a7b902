// Scores of a block of a long pair (long_block.hpp) from a table.
//
// In a step, each lane takes the next C columns of its strip of rows. Of every row that is one load of C neighbours
// per lane; transposing them gives a vector of lanes per column. Two lanes, four columns, row i of each strip:
//
//     loaded        lane 0: j..j+3      lane 1: j-4..j-1
//     column 0      lane 0: j           lane 1: j-4
//     ...
//     column 3      lane 0: j+3         lane 1: j-1
//
// 32-bit lanes take 8 interleaving operations per 32 cells, 16-bit lanes 12 per 64 (AVX2).
#pragma once
#include <utility>

#include "best_cell.hpp"
#include "score_table.hpp"

namespace tropalign::TROPALIGN_ISA {

/// Within each 16 bytes, interleave the first (or last) halves of `a` and `b`: a0 b0 a1 b1 ...
template <class T, int B, bool Last>
[[gnu::always_inline]] inline Vec<T, B> interleaved(Vec<T, B> a, Vec<T, B> b) {
    constexpr int n = B / sizeof(T), part = 16 / sizeof(T);
    return [&]<int... K>(std::integer_sequence<int, K...>) __attribute__((always_inline)) {
        return __builtin_shufflevector(a, b, (K / part * part + Last * part / 2 + K % part / 2 + (K % 2 ? n : 0))...);
    }(std::make_integer_sequence<int, n>{});
}

template <class T, int B>
class TableScores {
    static_assert(kColumns == 4 && (sizeof(T) == 2 || sizeof(T) == 4));
    static constexpr int L = Lanes<T, B>::count;
    static constexpr int P = B < 32 ? B : 32, kPart = P / static_cast<int>(sizeof(T));  // bytes, and lanes, at once
    using V = Vec<T, P>;

  public:
    /// The block whose first lane starts at (row, column), which may lie before the table, with `strip` rows per lane.
    /// `memory`: room for bytes(strip).
    TableScores(const ScoreTable &table, int row, int column, int strip, void *memory)
        : first_(static_cast<const T *>(table.first) + row * table.row + column), row_(table.row), strip_(strip),
          scores_(static_cast<T *>(memory)) {}
    static size_t bytes(size_t strip) { return strip * kColumns * B; }

    /// Set the next C columns of the lanes from `begin` to `last`; the first lane's start at column j.
    template <int C>
    void columns(int j, int begin, int last) {
        const ptrdiff_t lane = strip_ * row_ - C;
        const T *from = first_ + j;
        T *to = scores_;
        for (int i = 0; i < strip_; ++i, from += row_, to += kColumns * L) {
            if constexpr (C == kColumns) {
                for (int l = begin / kPart * kPart; l <= last; l += kPart) transpose(from + l * lane, lane, to + l);
            } else {
                for (int l = begin; l <= last; ++l)
                    for (int c = 0; c < C; ++c) to[c * L + l] = from[l * lane + c];
            }
        }
    }
    [[gnu::always_inline]] Vec<T, B> score(int i, int c) const {
        return load<T, B>(scores_ + (static_cast<ptrdiff_t>(i) * kColumns + c) * L);
    }

  private:
    /// Load 16 bytes of a lane, and of the lane whose numbers are 16 bytes further in a vector.
    [[gnu::always_inline]] static V loaded(const T *from, ptrdiff_t lane) {
        const Vec<T, 16> low = load<T, 16>(from);
        if constexpr (P == 16) {
            return low;
        } else {
            constexpr int half = 16 / sizeof(T);
            const Vec<T, 16> high = load<T, 16>(from + half * lane);
            return [&]<int... K>(std::integer_sequence<int, K...>) __attribute__((always_inline)) {
                return __builtin_shufflevector(low, high, K...);
            }(std::make_integer_sequence<int, 2 * half>{});
        }
    }

    [[gnu::always_inline]] static void transpose(const T *from, ptrdiff_t lane, T *to) {
        V column[4];
        if constexpr (sizeof(T) == 4) {
            const V a = loaded(from, lane), b = loaded(from + lane, lane), c = loaded(from + 2 * lane, lane),
                    d = loaded(from + 3 * lane, lane);
            const V ac = interleaved<T, P, false>(a, c), bd = interleaved<T, P, false>(b, d);
            const V ac_last = interleaved<T, P, true>(a, c), bd_last = interleaved<T, P, true>(b, d);
            column[0] = interleaved<T, P, false>(ac, bd), column[1] = interleaved<T, P, true>(ac, bd);
            column[2] = interleaved<T, P, false>(ac_last, bd_last),
            column[3] = interleaved<T, P, true>(ac_last, bd_last);
        } else {
            V pair[4];
            for (int k = 0; k < 4; ++k)
                pair[k] = interleaved<T, P, false>(loaded(from + k * lane, lane), loaded(from + (k + 4) * lane, lane));
            const V even = interleaved<T, P, false>(pair[0], pair[2]), odd = interleaved<T, P, false>(pair[1], pair[3]);
            const V even_last = interleaved<T, P, true>(pair[0], pair[2]),
                    odd_last = interleaved<T, P, true>(pair[1], pair[3]);
            column[0] = interleaved<T, P, false>(even, odd), column[1] = interleaved<T, P, true>(even, odd);
            column[2] = interleaved<T, P, false>(even_last, odd_last);
            column[3] = interleaved<T, P, true>(even_last, odd_last);
        }
        for (int c = 0; c < 4; ++c) store<T, P>(to + c * L, column[c]);
    }

    const T *first_;
    const ptrdiff_t row_;
    const int strip_;
    T *scores_;
};

}  // namespace tropalign::TROPALIGN_ISA
