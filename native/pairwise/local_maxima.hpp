// End cells of local alignments if the sweep has kept H of all cells: by the maxima of small parts of the matrix.
//
// The sweep takes the maximum of each part of a few rows and columns, which costs no more than a maximum of the whole,
// and no branch. Afterwards only the parts whose maximum is the lane's best are searched.
//
//       kColumns columns
//     +----+----+----+----+
//     | 12 |  7 | 31 | 40*|   kRows rows     best: 40. The tie rule decides between the two marked parts, and
//     |  9 | 40*| 22 |  8 |                  within them between their cells
//     +----+----+----+----+
//
// (In best_cell.hpp, by contrast, cells are noted as soon as some lane of a vector has a new maximum, a branch
// that is mispredicted so often that it took a third of a sweep of 257 residues with 32-byte vectors.)
#pragma once
#include <algorithm>
#include <cstddef>

#include "sweep.hpp"

namespace tropalign::TROPALIGN_ISA {

/// Replacement of LocalBest as the notes of local_columns.
template <class T, int B>
class LocalMaxima {
    using V = Vec<T, B>;
    static constexpr int L = Lanes<T, B>::count;

  public:
    static constexpr int kRows = 16;
    static constexpr bool kNotesAll = true;
    alignas(64) T score[L];
    int32_t row[L], column[L];

    static size_t bytes(size_t m, size_t n) { return sizeof(V) * parts(m) * (n / kColumns); }
    /// `memory`: bytes(m, n) bytes.
    LocalMaxima(void *memory, int m, int n, T floor)
        : maxima_(static_cast<V *>(memory)), m_(m), n_(n), parts_(static_cast<int>(parts(m))), floor_(floor) {}

    struct Noted {
        V highest;
        [[gnu::always_inline]] void begin(V threshold) { highest = threshold; }
        template <int C>
        [[gnu::always_inline]] void note(const V *h, int) {
            for (int c = 0; c < C; ++c) highest = vmax(highest, h[c]);
        }
    };

    template <int C, bool Mirrored>
    [[gnu::always_inline]] void settle(const Noted &noted, V, int row0, int j) {
        maxima_[static_cast<size_t>(j / kColumns) * parts_ + row0 / kRows] = noted.highest;
    }
    template <bool Mirrored>
    [[gnu::always_inline]] V threshold(V floor) const {
        return floor;
    }

    /// Find each lane's best score and its cell. `values`: H of all cells, column by column.
    template <bool Mirrored>
    [[gnu::noinline]] void find(const V *values) {
        const int groups = n_ / kColumns;
        V best = splat<T, B>(floor_);
        for (int k = 0; k < groups * parts_; ++k) best = vmax(best, maxima_[k]);
        store<T, B>(score, best);
        if (m_ <= kMostIndex && n_ <= kMostIndex && m_ * n_ <= kFewCells) return find_in_all<Mirrored>(values, best);
        uint64_t open = widened(gt_bits<T, B>(best, splat<T, B>(floor_)));  // lanes whose cell is not known yet
        // In the order of the tie rule: by columns first, or by rows.
        const int n_outer = Mirrored ? parts_ : groups, n_inner = Mirrored ? groups : parts_;
        const V below = best - splat<T, B>(1);
        for (int outer = 0; outer < n_outer && open; ++outer) {
            uint64_t found = 0;
            for (int inner = 0; inner < n_inner; ++inner) {
                const int group = Mirrored ? inner : outer, part = Mirrored ? outer : inner;
                const V maximum = maxima_[static_cast<size_t>(group) * parts_ + part];
                const uint64_t here = widened(gt_bits<T, B>(maximum, below)) & open;
                if (here) search<Mirrored>(values, part * kRows, group * kColumns, below, here, found);
                found |= here;
            }
            open &= ~found;
        }
    }

  private:
    /// Matrices of at most this many cells, whose indices fit a lane, are searched as a whole without a branch: that
    /// takes 3 operations per vector of cells, and a mispredicted branch per lane takes longer.
    static constexpr int kFewCells = 1024, kMostIndex = 127;
    static constexpr int kBits = Lanes<T, B>::bits_per_lane;

    /// Search all cells from the last one by the tie rule to the first, and keep what was found last.
    template <bool Mirrored>
    void find_in_all(const V *values, V best) {
        V outer_of{}, inner_of{};
        for (int outer = (Mirrored ? m_ : n_) - 1; outer >= 0; --outer) {
            V at = splat<T, B>(-1);
            for (int inner = (Mirrored ? n_ : m_) - 1; inner >= 0; --inner) {
                const V value = values[Mirrored ? inner * m_ + outer : outer * m_ + inner];
                at = value == best ? splat<T, B>(static_cast<T>(inner)) : at;
            }
            const V is_here = at >= V{};
            outer_of = is_here ? splat<T, B>(static_cast<T>(outer)) : outer_of;
            inner_of = is_here ? at : inner_of;
        }
        alignas(64) T outers[L], inners[L];
        store<T, B>(outers, outer_of), store<T, B>(inners, inner_of);
        for (int l = 0; l < L; ++l)
            row[l] = Mirrored ? outers[l] : inners[l], column[l] = Mirrored ? inners[l] : outers[l];
    }

    /// Search a part for the best scores of the lanes in `left`, which are above `below`. Those in `known` were found
    /// in an earlier part.
    template <bool Mirrored>
    void search(const V *values, int row0, int j, V below, uint64_t left, uint64_t known) {
        const V *from = values + static_cast<ptrdiff_t>(j) * m_ + row0;
        const int rows = std::min(kRows, m_ - row0);
        for (int outer = 0; outer < (Mirrored ? rows : kColumns); ++outer)
            for (int inner = 0; inner < (Mirrored ? kColumns : rows); ++inner) {
                const int i = Mirrored ? outer : inner, c = Mirrored ? inner : outer;
                uint64_t here = widened(gt_bits<T, B>(from[static_cast<ptrdiff_t>(c) * m_ + i], below)) & left;
                left &= ~here;
                while (here) {
                    const int l = __builtin_ctzll(here) / kBits;
                    const uint64_t lane = ((uint64_t{2} << (kBits - 1)) - 1) << (l * kBits);
                    if (!(known & lane) || ends_before<Mirrored>(row0 + i, j + c, row[l], column[l]))
                        row[l] = row0 + i, column[l] = j + c;
                    here &= ~lane;
                }
                if (!left) return;
            }
    }

    static size_t parts(size_t m) { return (m + kRows - 1) / kRows; }

    V *maxima_;
    const int m_, n_, parts_;
    const T floor_;
};

}  // namespace tropalign::TROPALIGN_ISA
