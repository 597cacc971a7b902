// The recurrences of affine-gap alignment (Gotoh 1982), a lane a pair, C columns at a time.
//
// Rows i (m of them) carry the letters of one sequence, columns j (n) those of the other.
//   H(i,j) = max(H(i-1,j-1) + s(i,j), E(i,j), F(i,j) [, 0 for local])
//   E(i,j) = max(E(i,j-1) - ext, H(i,j-1) - first)      a residue of the column sequence against a gap
//   F(i,j) = max(F(i-1,j) - ext, H(i-1,j) - first)      a residue of the row sequence against a gap
// with first = open + ext: a gap of k residues costs open + k*ext.
//
// Two forms of it:
//  * local_columns keeps H itself. The zero of the local mode is stored as `floor`, so far above the type's
//    lowest value that nothing can wrap round below it; a best score within the highest substitution score
//    of the type's highest value may have wrapped, and the caller repeats such a pair with wider lanes.
//  * global_columns keeps differences between neighbours (Suzuki and Kasahara 2018, BMC Bioinformatics
//    19:45), of H'(i,j) = H(i,j) + ext*(i+j), for which extending a gap is free; s' = s + 2*ext, q = open:
//      u(i,j) = H'(i,j) - H'(i-1,j)     v(i,j) = H'(i,j) - H'(i,j-1)
//      x(i,j) = E'(i,j+1) - H'(i,j)     y(i,j) = F'(i+1,j) - H'(i,j)          both within [-q, 0]
//      z = max(s', x(i,j-1) + u(i,j-1), y(i-1,j) + v(i-1,j))
//      u = z - v(i-1,j), v = z - u(i,j-1), x = max(E' - z, -q), y = max(F' - z, -q)
//    They stay within [-2q - max s', max s' + q] at any length: 8 bits do for every usual scoring.
//
// With Trace, four masks a cell-vector are stored, a bit a lane:
//   [0] E beats what was compared before it   [1] F does   [2] E was extended into the next column
//   [3] F was extended into the next row.
// Ties: diagonal, then E, then F (Swap: then F, then E); a gap is extended only if that is strictly better.
//
// Cost a cell-vector, C = 4: 10 vector operations (either form), 4 compares and 4 mask stores more with
// Trace; the row state (two vectors) is loaded and stored once in C cells.
#pragma once
#include <type_traits>

#include "../simd/vec.hpp"

namespace tropalign::TROPALIGN_ISA {

inline constexpr int kColumns = 4;  // columns a sweep takes at once, and the masks of a row that lie together

template <class T, int B>
struct Masks {
    typename Lanes<T, B>::Bits word[4];
};

/// The best cell of each lane so far; scores as stored (relative to `floor`). Equal scores: the smallest column, then row
/// (Swap: row, then column).
///
/// Cells arrive row by row within a few columns. Those above a lane's threshold are noted a vector at a time, for each of
/// the columns the highest and its first row, and settled lane by lane when the columns (or kRows rows) are done.
template <class T, int B>
struct LocalBest {
    using V = Vec<T, B>;
    static constexpr int kLanes = Lanes<T, B>::count;
    static constexpr int kRows = sizeof(T) == 1 ? 128 : 1 << 15;  // what `at` can tell apart
    alignas(64) T score[kLanes];
    int32_t row[kLanes], column[kLanes];
    V highest[kColumns], at[kColumns];

    explicit LocalBest(T floor) {
        for (int l = 0; l < kLanes; ++l) score[l] = floor, row[l] = column[l] = -1;
    }

    [[gnu::always_inline]] void begin(V threshold) {
        for (int c = 0; c < kColumns; ++c) highest[c] = threshold, at[c] = V{};
    }

    template <int C>
    [[gnu::always_inline]] void note(const V *h, int row_in_part) {
        const V here = splat<T, B>(static_cast<T>(row_in_part));
        for (int c = 0; c < C; ++c) {
            const V seen = highest[c];
            at[c] = h[c] > seen ? here : at[c];
            highest[c] = vmax(h[c], seen);
        }
    }

    /// Takes over what was noted above `threshold` in rows row0.. of columns j...
    template <int C, bool Swap>
    [[gnu::noinline]] void settle(V threshold, int row0, int j) {
        V top = highest[0], rows = at[0], columns{};
        for (int c = 1; c < C; ++c) {
            V better = highest[c] > top;
            if constexpr (Swap) better |= (highest[c] == top) & (at[c] < rows);
            top = better ? highest[c] : top;
            rows = better ? at[c] : rows;
            columns = better ? splat<T, B>(static_cast<T>(c)) : columns;
        }
        uint64_t bits = widened(gt_bits<T, B>(top, threshold));
        if (!bits) return;
        alignas(64) T tops[kLanes], row_of[kLanes], column_of[kLanes];
        store<T, B>(tops, top), store<T, B>(row_of, rows), store<T, B>(column_of, columns);
        constexpr int bits_a_lane = Lanes<T, B>::bits_a_lane;
        while (bits) {
            const int l = __builtin_ctzll(bits) / bits_a_lane;
            bits &= ~(((uint64_t{2} << (bits_a_lane - 1)) - 1) << (l * bits_a_lane));
            const int i = row0 + row_of[l], k = j + column_of[l];
            if (tops[l] > score[l] || (tops[l] == score[l] && (Swap ? i < row[l] : k < column[l])))
                score[l] = tops[l], row[l] = i, column[l] = k;
        }
    }
};

template <class T>
struct LocalScoring {
    T floor, first, extend;
};

/// What a sweep of columns finds above its first row, and leaves below its last one.
template <class T, int B>
struct Edge {
    Vec<T, B> value[kColumns];  // H (local), v (global)
    Vec<T, B> gap[kColumns];    // F, y
    Vec<T, B> corner;           // local: H above the first row, one column before
};

/// Lanes that do not take part everywhere. A lane whose first rows or columns belong to no sequence keeps its state
/// in columns without `active`, and hands the values above on through the rows that have not `started`.
template <class T, int B>
struct Participation {
    Vec<T, B> active{};
    const Vec<T, B> *started = nullptr;  // n_rows of them
    int n_rows = 0;
};

/// C columns of the local recurrence over all rows. H and E hold the column before, then the last of these; `edge` what
/// lies above, then the last row. `best`: running maxima, or with Track the thresholds of `tracked`. With Partial some
/// lanes do not take part.
template <class T, int B, int C, bool Trace, bool Track, bool Swap, bool Partial, class Scorer>
[[gnu::always_inline]] inline void local_columns(const Scorer &scorer, int m, int j, LocalScoring<T> scoring,
                                                 Vec<T, B> *__restrict H, Vec<T, B> *__restrict E,
                                                 Masks<T, B> *__restrict masks, Vec<T, B> &best,
                                                 LocalBest<T, B> &tracked, Edge<T, B> &edge,
                                                 const Participation<T, B> &part) {
    using V = Vec<T, B>;
    using Bits = typename Lanes<T, B>::Bits;
    const V floor = splat<T, B>(scoring.floor), first = splat<T, B>(scoring.first), extend = splat<T, B>(scoring.extend);
    V f[C], above[C], corner = edge.corner;
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
            V x = diagonal + scorer.score(i, c);
            Bits e_wins, f_wins;
            if constexpr (Swap) {
                if constexpr (Trace) f_wins = gt_bits<T, B>(f[c], x);
                x = vmax(x, f[c]);
                if constexpr (Trace) e_wins = gt_bits<T, B>(e, x);
                x = vmax(x, e);
            } else {
                if constexpr (Trace) e_wins = gt_bits<T, B>(e, x);
                x = vmax(x, e);
                if constexpr (Trace) f_wins = gt_bits<T, B>(f[c], x);
                x = vmax(x, f[c]);
            }
            x = vmax(x, floor);
            diagonal = above[c];
            above[c] = h[c] = x;
            V opened = x - first;
            e = e - extend;
            f[c] = f[c] - extend;
            if constexpr (Trace) {
                masks[c].word[0] = e_wins;
                masks[c].word[1] = f_wins;
                masks[c].word[2] = gt_bits<T, B>(e, opened);
                masks[c].word[3] = gt_bits<T, B>(f[c], opened);
            }
            e = vmax(e, opened);
            f[c] = vmax(f[c], opened);
            if constexpr (!Track) best = vmax(best, x);
        }
        if constexpr (Trace) masks += kColumns;
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
            V top = h[0];
            for (int c = 1; c < C; ++c) top = vmax(top, h[c]);
            if (__builtin_expect(any_gt<T, B>(top, best), 0)) {
                tracked.template note<C>(h, i - row0);
                best = vmax(best, top - splat<T, B>(1));  // an equal score may come in an earlier column
            }
        }
    };
    if constexpr (Track) {
        for (int row0 = 0; row0 < m; row0 += LocalBest<T, B>::kRows) {
            const V threshold = best;
            tracked.begin(threshold);
            const int end = row0 + LocalBest<T, B>::kRows < m ? row0 + LocalBest<T, B>::kRows : m;
            for (int i = row0; i < end; ++i) row(i, row0);
            tracked.template settle<C, Swap>(threshold, row0, j);
        }
        best = load<T, B>(tracked.score);
        if constexpr (Swap) best = vmax(best - splat<T, B>(1), floor);  // an equal score may come in an earlier row
    } else {
        for (int i = 0; i < m; ++i) row(i, 0);
    }
    for (int c = 0; c < C; ++c) edge.gap[c] = f[c], edge.value[c] = above[c];
}

/// C columns of the global recurrence over all rows. U and X hold the column before, then the last of these; `edge` what
/// lies above, then the last row. With Partial some lanes do not take part.
template <class T, int B, int C, bool Trace, bool Swap, bool Partial, class Scorer>
[[gnu::always_inline]] inline void global_columns(const Scorer &scorer, int m, T open, Vec<T, B> *__restrict U,
                                                  Vec<T, B> *__restrict X, Masks<T, B> *__restrict masks,
                                                  Edge<T, B> &edge, const Participation<T, B> &part) {
    using V = Vec<T, B>;
    using Bits = typename Lanes<T, B>::Bits;
    const V closed = splat<T, B>(static_cast<T>(-open));
    V v[C], y[C];
    for (int c = 0; c < C; ++c) v[c] = edge.value[c], y[c] = edge.gap[c];
    auto row = [&](int i, auto row_head) __attribute__((always_inline)) {
        V u = U[i], x = X[i];
#pragma GCC unroll 4
        for (int c = 0; c < C; ++c) {
            V a = x + u, b = y[c] + v[c], z = scorer.score(i, c);
            Bits e_wins, f_wins;
            if constexpr (Swap) {
                if constexpr (Trace) f_wins = gt_bits<T, B>(b, z);
                z = vmax(z, b);
                if constexpr (Trace) e_wins = gt_bits<T, B>(a, z);
                z = vmax(z, a);
            } else {
                if constexpr (Trace) e_wins = gt_bits<T, B>(a, z);
                z = vmax(z, a);
                if constexpr (Trace) f_wins = gt_bits<T, B>(b, z);
                z = vmax(z, b);
            }
            V v_new = z - u;
            u = z - v[c];
            a = a - z;
            b = b - z;
            if constexpr (Trace) {
                masks[c].word[0] = e_wins;
                masks[c].word[1] = f_wins;
                masks[c].word[2] = gt_bits<T, B>(a, closed);
                masks[c].word[3] = gt_bits<T, B>(b, closed);
            }
            x = vmax(a, closed);
            v[c] = v_new;
            y[c] = vmax(b, closed);
            if constexpr (row_head.value) {
                v[c] = part.started[i] ? v[c] : edge.value[c];
                y[c] = part.started[i] ? y[c] : edge.gap[c];
            }
        }
        if constexpr (Trace) masks += kColumns;
        U[i] = Partial ? (part.active ? u : U[i]) : u;
        X[i] = Partial ? (part.active ? x : X[i]) : x;
    };
    int i = 0;
    for (; i < part.n_rows; ++i) row(i, std::true_type{});
    for (; i < m; ++i) row(i, std::false_type{});
    for (int c = 0; c < C; ++c) edge.value[c] = v[c], edge.gap[c] = y[c];
}

}  // namespace tropalign::TROPALIGN_ISA
