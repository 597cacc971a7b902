// The recurrences of affine-gap alignment (Gotoh 1982), a lane per pair, C columns at a time.
//
// Rows i (m of them) carry the residues of one sequence, columns j (n) those of the other.
//   H(i,j) = max(H(i-1,j-1) + s(i,j), E(i,j), F(i,j) [, 0 for local])
//   E(i,j) = max(E(i,j-1) - ext, H(i,j-1) - gap_first)      a residue of the column sequence against a gap
//   F(i,j) = max(F(i-1,j) - ext, H(i-1,j) - gap_first)      a residue of the row sequence against a gap
// with gap_first = open + ext: a gap of k residues costs open + k*ext.
//
// There are two forms of it:
//  * local_columns keeps H itself. The zero of the local mode is stored as `floor`, so far above the type's lowest
//    value that nothing can wrap round below it; a best score within the highest substitution score of the type's
//    highest value may have wrapped, and the caller repeats such a pair with wider lanes (ranges.hpp).
//  * global_columns keeps differences between neighbours (Suzuki and Kasahara 2018, BMC Bioinformatics 19:45), of
//    H'(i,j) = H(i,j) + ext*(i+j), for which extending a gap is free; s' = s + 2*ext, q = open:
//      u(i,j) = H'(i,j) - H'(i-1,j)     v(i,j) = H'(i,j) - H'(i,j-1)
//      x(i,j) = E'(i,j+1) - H'(i,j)     y(i,j) = F'(i+1,j) - H'(i,j)          both within [-q, 0]
//      z = max(s', x(i,j-1) + u(i,j-1), y(i-1,j) + v(i-1,j))
//      u = z - v(i-1,j), v = z - u(i,j-1), x = max(E' - z, -q), y = max(F' - z, -q)
//    They stay within [-2q - max s', max s' + q] at any length: 8 bits suffice for every usual scoring.
//
//      C = 4 columns        above[0..3]         from the row above, or `edge`
//                         | | | | |
//      H[i], E[i]  -->    o o o o o  -->  H[i], E[i]      the column before, then the last of the four
//                           | | | |
//
// A traceback needs a trace of every cell:
//  * values: H (local), or H' (global); its last bits suffice, since it is compared with neighbours. All
//    directions follow from them (unit_values.hpp).
//  * masks: a bit per lane and comparison.
//      [0] a gap beats the diagonal   [1] the gap that the tie rule ranks last beats the other two (ties.hpp)
//      [2] E was extended into the next column   [3] F was extended into the next row
//
// Cost per vector of cells, C = 4: 10 vector operations (either form). Values take one additional store, H' also a
// sum; masks 4 compares and 4 stores of bits (NEON: 4 compares and 5, masks.hpp). In GCUPS (Zen 4, recurrences
// alone, local and global): nothing traced 37.8 and 31.9, values 35.2 and 28.8, masks 20.2 and 19.1 with 32-byte
// vectors; 39.3 and 34.2, 36.1 and 29.1, 24.4 and 18.7 with 64 bytes. The row state (two vectors) is loaded and
// stored once for C cells.
#pragma once
#include <type_traits>

#include "../simd/masks.hpp"
#include "best_cell.hpp"
#include "ties.hpp"

namespace tropalign::TROPALIGN_ISA {

template <class T>
struct LocalScoring {
    T floor, gap_first, extend;
};

/// Values above the first row of a sweep of columns; the sweep replaces them by the values of its last row.
template <class T, int B>
struct Edge {
    Vec<T, B> value[kColumns];  // H (local), v (global)
    Vec<T, B> gap[kColumns];    // F, y
    Vec<T, B> corner;           // local: H above the first row, one column before
};

/// Lanes that take part in only some rows or columns. In global mode sequences are placed at the end of the unit's
/// rows and columns, so that all pairs end in one corner; before a shorter one there is padding. Three lanes of a
/// unit of m x n:
///
///       0            n      0     a      n      0     a      n
///     0 +------------+    0 +-----+------+    0 +-----+------+
///       |            |      |     |      |      |     :      |   rows above b have not `started` in the third lane:
///       |   lane 0   |      |  P  |lane 1|    b |. . .+------+   they pass on the values from above
///       |            |      |     |      |      |     |lane 2|   columns before a (P) are not `active`:
///     m +------------+    m +-----+------+    m +-----+------+   the lane's state stays, or starts new in column a
template <class T, int B>
struct Participation {
    Vec<T, B> active{};
    const Vec<T, B> *started = nullptr;  // n_rows of them; in all later rows every lane has started
    int n_rows = 0;
    const Vec<T, B> *begins = nullptr;  // for each column, the lanes that start in it
    const Vec<T, B> *border = nullptr;  // u(i,0) of n_rows rows
    Vec<T, B> border_below{};           // of all later rows
};

/// Lanes that take part in some columns: all; those that are `active` (the others keep their state); or all, and some
/// of them start there.
enum class Part { all, active, begins };

/// Keeps no rows of a sweep besides its last one. Other such types store every kRows-th row by keep<C>(value, gap)
/// (checkpoints.hpp).
struct KeepsNoRows {
    static constexpr int kRows = 0;
};

/// Trace kept of every cell.
enum class Trace { nothing, masks, values };
template <Trace K, class T, int B>
using TraceOf = std::conditional_t<K == Trace::masks, Masks<T, B>, Vec<T, B>>;

/// Sweep C columns of the local recurrence over m rows. H and E hold the column before, then the last column; `edge`
/// the values above, then those of the last row. `best`: running maxima, or with Track the thresholds of `tracked`
/// (LocalBest). With Partial some lanes do not take part.
template <class T, int B, int C, Trace K, bool Track, bool Mirrored, bool Partial, class Scorer, class Tracker,
          class Keeper = KeepsNoRows>
[[gnu::always_inline]] inline void local_columns(const Scorer &scorer, int m, int j, LocalScoring<T> scoring,
                                                 Vec<T, B> *__restrict H, Vec<T, B> *__restrict E,
                                                 TraceOf<K, T, B> *__restrict trace, Vec<T, B> &best, Tracker &tracked,
                                                 Edge<T, B> &edge, const Participation<T, B> &part,
                                                 Keeper keeper = {}) {
    using V = Vec<T, B>;
    const V floor = splat<T, B>(scoring.floor), gap_first = splat<T, B>(scoring.gap_first);
    const V extend = splat<T, B>(scoring.extend);
    V f[C], above[C], corner = edge.corner;
    [[maybe_unused]] typename Tracker::Noted noted;
    for (int c = 0; c < C; ++c) f[c] = edge.gap[c], above[c] = edge.value[c];
    if constexpr (Partial) edge.corner = part.active ? above[C - 1] : corner;
    auto row = [&](int i, int row0) __attribute__((always_inline)) {
        V left = H[i], e = E[i], diagonal = corner, h[C], f_above[C], h_above[C];
        if constexpr (Partial)
            for (int c = 0; c < C; ++c) f_above[c] = f[c], h_above[c] = above[c];
        V corner_above = corner;
        corner = left;
#pragma GCC unroll 4
        for (int c = 0; c < C; ++c) {
            Answer<T, B> gap_wins, last_wins;
            // H(i,j) from H(i-1,j-1) + s, E(i,j) and F(i,j)
            V x = best_step<T, B, K == Trace::masks, Mirrored>(diagonal + scorer.score(i, c), e, f[c], gap_wins,
                                                               last_wins);
            x = vmax(x, floor);
            diagonal = above[c];  // H(i-1,j)
            above[c] = h[c] = x;
            if constexpr (K == Trace::values) trace[static_cast<ptrdiff_t>(c) * m] = x;
            V opened = x - gap_first;
            e = e - extend;        // E(i,j+1) and
            f[c] = f[c] - extend;  // F(i+1,j), extended
            if constexpr (K == Trace::masks) {
                typename Masks<T, B>::Pending pending;
                trace[c].template put<0>(pending, gap_wins);
                trace[c].template put<1>(pending, last_wins);
                trace[c].template put<2>(pending, goes_on<T, B>(e, opened));
                trace[c].template put<3>(pending, goes_on<T, B>(f[c], opened));
            }
            e = vmax(e, opened);
            f[c] = vmax(f[c], opened);
            if constexpr (!Track) best = vmax(best, x);
        }
        if constexpr (K != Trace::nothing) trace += K == Trace::masks ? kColumns : 1;
        if constexpr (Partial) {
            if (i < part.n_rows) {
                const V started = part.started[i];
                for (int c = 0; c < C; ++c) {
                    above[c] = started ? above[c] : h_above[c];
                    f[c] = started ? f[c] : f_above[c];
                    h[c] = started ? h[c] : floor;
                }
                corner = started ? corner : corner_above;
            }
            H[i] = part.active ? h[C - 1] : left;
            E[i] = part.active ? e : E[i];
            for (int c = 0; c < C; ++c) h[c] = part.active ? h[c] : floor;
        } else {
            H[i] = h[C - 1];
            E[i] = e;
        }
        if constexpr (Track) {
            if constexpr (Tracker::kNotesAll) {
                noted.template note<C>(h, i - row0);
            } else {
                V top = h[0];
                for (int c = 1; c < C; ++c) top = vmax(top, h[c]);
                if (__builtin_expect(any_gt<T, B>(top, best), 0)) {
                    tracked.template note<C>(noted, h, i - row0, j);
                    best = vmax(best, tracked.still_of_interest(top));
                }
            }
        }
    };
    if constexpr (Track) {
        for (int row0 = 0; row0 < m; row0 += Tracker::kRows) {
            const V threshold = best;
            noted.begin(threshold);
            const int end = row0 + Tracker::kRows < m ? row0 + Tracker::kRows : m;
            if constexpr (Keeper::kRows > 0) {
                static_assert(Tracker::kRows % Keeper::kRows == 0);
                int i = row0;
                while (end - i >= Keeper::kRows) {
                    for (const int next = i + Keeper::kRows; i < next; ++i) row(i, row0);
                    keeper.template keep<C>(above, f);
                }
                for (; i < end; ++i) row(i, row0);
            } else {
                for (int i = row0; i < end; ++i) row(i, row0);
            }
            tracked.template settle<C, Mirrored>(noted, threshold, row0, j);
        }
        best = tracked.template threshold<Mirrored>(floor);
    } else {
        for (int i = 0; i < m; ++i) row(i, 0);
    }
    for (int c = 0; c < C; ++c) edge.gap[c] = f[c], edge.value[c] = above[c];
}

/// Sweep C columns of the global recurrence over m rows. U and X hold the column before, then the last column; `edge`
/// the values above, then those of the last row. With values, `sums` holds H' of the column before, then of the last
/// column.
template <class T, int B, int C, Trace K, bool Mirrored, Part Which, class Scorer, class Keeper = KeepsNoRows>
[[gnu::always_inline]] inline void global_columns(const Scorer &scorer, int m, T open, Vec<T, B> *__restrict U,
                                                  Vec<T, B> *__restrict X, TraceOf<K, T, B> *__restrict trace,
                                                  Edge<T, B> &edge, const Participation<T, B> &part, Keeper keeper = {},
                                                  [[maybe_unused]] Vec<T, B> *__restrict sums = nullptr) {
    using V = Vec<T, B>;
    const V min_gap = splat<T, B>(static_cast<T>(-open));
    V v[C], y[C], begins[C];
    [[maybe_unused]] V border_sum{};  // H'(i,0)
    for (int c = 0; c < C; ++c) v[c] = edge.value[c], y[c] = edge.gap[c];
    if constexpr (Which == Part::begins)
        for (int c = 0; c < C; ++c) begins[c] = part.begins[c];
    auto row = [&](int i, auto row_head) __attribute__((always_inline)) {
        V u = U[i], x = X[i], border{};
        [[maybe_unused]] V sum;
        if constexpr (K == Trace::values) sum = sums[i];
        if constexpr (Which == Part::begins) {
            border = row_head.value ? part.border[i] : part.border_below;
            if constexpr (K == Trace::values) border_sum = border_sum + border;
            if constexpr (K == Trace::values && row_head.value) border_sum &= part.started[i];
        }
#pragma GCC unroll 4
        for (int c = 0; c < C; ++c) {
            if constexpr (Which == Part::begins) {
                u = begins[c] ? border : u;
                x = begins[c] ? min_gap : x;
                if constexpr (K == Trace::values) sum = begins[c] ? border_sum : sum;
            }
            V a = x + u, b = y[c] + v[c];  // E'(i,j) and F'(i,j), minus H'(i-1,j-1) as is z
            Answer<T, B> gap_wins, last_wins;
            const V z = best_step<T, B, K == Trace::masks, Mirrored>(scorer.score(i, c), a, b, gap_wins, last_wins);
            V v_new = z - u;
            u = z - v[c];
            a = a - z;
            b = b - z;
            if constexpr (K == Trace::masks) {
                typename Masks<T, B>::Pending pending;
                trace[c].template put<0>(pending, gap_wins);
                trace[c].template put<1>(pending, last_wins);
                trace[c].template put<2>(pending, goes_on<T, B>(a, min_gap));
                trace[c].template put<3>(pending, goes_on<T, B>(b, min_gap));
            }
            x = vmax(a, min_gap);
            if constexpr (K == Trace::values) trace[static_cast<ptrdiff_t>(c) * m] = sum = sum + v_new;
            v[c] = v_new;
            y[c] = vmax(b, min_gap);
            if constexpr (row_head.value) {
                v[c] = part.started[i] ? v[c] : edge.value[c];
                y[c] = part.started[i] ? y[c] : edge.gap[c];
            }
        }
        if constexpr (K != Trace::nothing) trace += K == Trace::masks ? kColumns : 1;
        if constexpr (K == Trace::values) sums[i] = sum;
        U[i] = Which == Part::active ? (part.active ? u : U[i]) : u;
        X[i] = Which == Part::active ? (part.active ? x : X[i]) : x;
    };
    int i = 0;
    if constexpr (Keeper::kRows > 0) {
        while (m - i >= Keeper::kRows) {
            const int next = i + Keeper::kRows, head = part.n_rows < next ? part.n_rows : next;
            for (; i < head; ++i) row(i, std::true_type{});
            for (; i < next; ++i) row(i, std::false_type{});
            keeper.template keep<C>(v, y);
        }
    }
    for (; i < part.n_rows; ++i) row(i, std::true_type{});
    for (; i < m; ++i) row(i, std::false_type{});
    for (int c = 0; c < C; ++c) edge.value[c] = v[c], edge.gap[c] = y[c];
}

}  // namespace tropalign::TROPALIGN_ISA
