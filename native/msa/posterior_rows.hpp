// Rows of the recurrences of posterior_model.hpp, a lane per pair: forward and, with posteriors, expected accuracy
// and the search for elements to keep, backward. Two rows are computed together along the columns, so that the
// values passed from a column to the next row are loaded and stored half as often:
//
//               j-1    j                one step computes the cells 1 and 2 of column j; S, X and F of row i go
//     row i           (1)  <- S(i-1,j-1)    through registers to row i+1, and only those of row i+1 through memory
//     row i+1         (2)  <- S(i,j-1)
#pragma once
#include "../simd/real.hpp"
#include "posterior_unit.hpp"
#include "sparse.hpp"

namespace tropalign::TROPALIGN_ISA {

template <class V>
struct Constants {
    using T = typename Real<V>::T;
    explicit Constants(const PosteriorModel &model)
        : a1(every<V>(static_cast<T>(model.add[0]))), a2(every<V>(static_cast<T>(model.add[1]))),
          e1(every<V>(static_cast<T>(model.extend[0]))), e2(every<V>(static_cast<T>(model.extend[1]))),
          open(every<V>(static_cast<T>(model.gap_open))), extend(every<V>(static_cast<T>(model.gap_extend))),
          free(every<V>(static_cast<T>(model.end_free))) {}
    V a1, a2, e1, e2, open, extend, free;
};

/// Column 0, and the scales of rows.
template <class V>
struct LeftEdge {
    V S, X1, X2, T;               // S(i-1,0), X_k(i,0); T is the partition function's S(i-1,0)
    V free;                       // weight of an overhang: the part of S(i,0) besides X_k
    V hmm_total, part_total;      // sums of M in the last column
    V hmm_scale, part_scale;      // of the next rows
    V hmm_highest, part_highest;  // of the row before: the largest S; and of the totals, which do not decay as S may
};

/// The columns of a unit.
template <class V, class Letters>
struct Columns {
    Letters letters;
    int N;            // columns of the longest lane
    int first_end;    // first column that is the last one of a lane
    const V *is_end;  // [N + 1] 1 in the lanes whose last column it is
};

/// Odds and Boltzmann factors of the row's residue and 16 residues of the y's, from a table row in two registers.
template <class V>
struct PermutedLetters {
    const int32_t *letters;  // [column][lane], from column 1
    const float *tables;     // [letter][2][32]

    using Index = Vec<int32_t, 64>;
    struct Row {
        V table[4];
        [[gnu::always_inline]] V hmm(Index y) const { return picked(table[0], table[1], y); }
        [[gnu::always_inline]] V part(Index y) const { return picked(table[2], table[3], y); }
    };
    [[gnu::always_inline]] Row row(int x) const {
        const V *t = reinterpret_cast<const V *>(tables + x * 64);
        return {{t[0], t[1], t[2], t[3]}};
    }
    [[gnu::always_inline]] Index at(int j) const { return load<int32_t, 64>(letters + (j - 1) * 16); }
};

/// Odds and factors looked up in advance for every residue of x.
template <class V>
struct ProfiledLetters {
    const V *profile;  // [row of the residue][column][2], from column 1
    const int32_t *row_of;
    int64_t stride;

    using Index = int64_t;
    struct Row {
        const V *values;
        [[gnu::always_inline]] V hmm(Index j) const { return values[2 * j]; }
        [[gnu::always_inline]] V part(Index j) const { return values[2 * j + 1]; }
    };
    [[gnu::always_inline]] Row row(int x) const { return {profile + row_of[x] * stride - 2}; }
    [[gnu::always_inline]] Index at(int j) const { return j; }
};

/// Compute rows of the residues x[0] .. x[R - 1]. `state` is [N + 1][kPosteriorDown]; M of both recurrences is
/// written to `kept`, [R][N + 1][2].
template <int R, bool kScale, bool kMax, class V, class Letters>
[[gnu::noinline]] void forward_rows(const Constants<V> &constants, const Columns<V, Letters> &columns, const uint8_t *x,
                                    LeftEdge<V> &edge, V *state, V *kept) {
    const Constants<V> c = constants;
    const Letters letters = columns.letters;
    const V *const is_end = columns.is_end;
    typename Letters::Row row[R];
    V diagonal[R], Y1[R], Y2[R], diagonal_t[R], E[R];
    const V hmm_scale = edge.hmm_scale, part_scale = edge.part_scale;
    V S = edge.S, X1 = edge.X1, X2 = edge.X2, free = edge.free, T = edge.T;
    V hmm_total = edge.hmm_total, total = edge.part_total;
    if constexpr (kScale) {
        S = S * hmm_scale, X1 = X1 * hmm_scale, X2 = X2 * hmm_scale;
        free = free * hmm_scale, hmm_total = hmm_total * hmm_scale;
        T = T * part_scale, total = total * part_scale;
    }
    for (int r = 0; r < R; ++r) {
        row[r] = letters.row(x[r]);
        diagonal[r] = S, diagonal_t[r] = T;
        S = fma(c.a1, X1, fma(c.a2, X2, free));
        X1 = c.e1 * X1, X2 = c.e2 * X2;
        Y1[r] = Y2[r] = E[r] = V{};
    }
    edge.S = S, edge.X1 = X1, edge.X2 = X2, edge.free = free, edge.T = T;
    V hmm_highest{}, part_highest{};
    const int64_t stride = 2 * (int64_t{columns.N} + 1);
    auto column = [&](int j, auto is_tail) __attribute__((always_inline)) {
        const typename Letters::Index y = letters.at(j);
        V *at = state + int64_t{kPosteriorDown} * j;
        V above = at[0], x1 = at[1], x2 = at[2], above_t = at[3], f = at[4];
        if constexpr (kScale) {
            above = above * hmm_scale, x1 = x1 * hmm_scale, x2 = x2 * hmm_scale;
            above_t = above_t * part_scale, f = f * part_scale;
        }
#pragma GCC unroll 2
        for (int r = 0; r < R; ++r) {
            const V M = row[r].hmm(y) * diagonal[r];
            diagonal[r] = above;
            above = fma(c.a1, x1 + Y1[r], fma(c.a2, x2 + Y2[r], M));
            x1 = fma(c.e1, x1, M), x2 = fma(c.e2, x2, M);
            Y1[r] = fma(c.e1, Y1[r], M), Y2[r] = fma(c.e2, Y2[r], M);
            const V Z = row[r].part(y) * diagonal_t[r];
            diagonal_t[r] = above_t;
            above_t = fma(c.open, f + E[r], Z);
            f = fma(c.extend, f, Z);
            E[r] = fma(c.extend, E[r], Z);
            if constexpr (decltype(is_tail)::value) {
                hmm_total = fma(is_end[j], M, hmm_total);
                total = fma(is_end[j], Z, total);
            }
            kept[r * stride + 2 * j] = M, kept[r * stride + 2 * j + 1] = Z;
        }
        at[0] = above, at[1] = x1, at[2] = x2, at[3] = above_t, at[4] = f;
        if constexpr (kMax) hmm_highest = larger(above, hmm_highest), part_highest = larger(above_t, part_highest);
    };
    int j = 1;
    for (; j < columns.first_end; ++j) column(j, std::false_type{});
    for (; j <= columns.N; ++j) column(j, std::true_type{});
    edge.hmm_total = hmm_total, edge.part_total = total;
    if constexpr (kMax) {
        edge.hmm_highest = larger(c.free * hmm_total, hmm_highest);
        edge.part_highest = larger(total, part_highest);
    }
}

/// Compute the last row, after which both totals are known. It is scaled.
template <class V, class Letters>
[[gnu::noinline]] void forward_last(const Constants<V> &c, const PosteriorModel &model,
                                    const Columns<V, Letters> &columns, uint8_t x, LeftEdge<V> &edge, const V *state,
                                    V *kept, V &hmm_total, V &part_total) {
    using T = typename Real<V>::T;
    const V end_match = every<V>(static_cast<T>(model.end_match));
    const V end1 = every<V>(static_cast<T>(model.end_insert[0])), end2 = every<V>(static_cast<T>(model.end_insert[1]));
    const auto row = columns.letters.row(x);
    V diagonal = edge.S * edge.hmm_scale, diagonal_t = edge.T * edge.part_scale, Y1{}, Y2{};
    V row_total{}, corner{}, hmm_row{}, hmm_corner{};  // separate, so that x and y may be swapped
    for (int j = 1; j <= columns.N; ++j) {
        const auto y = columns.letters.at(j);
        const V *at = state + int64_t{kPosteriorDown} * j;
        const V M = row.hmm(y) * diagonal, Z = row.part(y) * diagonal_t;
        diagonal = at[0] * edge.hmm_scale, diagonal_t = at[3] * edge.part_scale;
        const V X1 = at[1] * edge.hmm_scale, X2 = at[2] * edge.hmm_scale;
        hmm_corner = fma(columns.is_end[j], fma(end_match, M, fma(end1, X1 + Y1, end2 * (X2 + Y2))), hmm_corner);
        hmm_row = hmm_row + (M - columns.is_end[j] * M);
        corner = fma(columns.is_end[j], Z, corner);
        row_total = row_total + (Z - columns.is_end[j] * Z);
        Y1 = fma(c.e1, Y1, M), Y2 = fma(c.e2, Y2, M);
        kept[2 * j] = M, kept[2 * j + 1] = Z;
    }
    hmm_total = fma(c.free, edge.hmm_total * edge.hmm_scale + hmm_row, hmm_corner);
    part_total = (edge.part_total * edge.part_scale + row_total) + corner;
}

/// Column N + 1, and the scales of the backward sweep.
template <class V>
struct RightEdge {
    V hmm_end,
        part_end;  // weight of a match in the last cell for the pair-HMM, in the last row or column for the other
    V hmm_free;    // the same for the pair-HMM in the other cells of the last row and column, before an overhang
    V hmm_scale, part_scale;  // of the next rows
    V highest;                // of the values that are multiplied by those of `kept`
    V lowest;                 // fixed-point values from here on are kept
};

/// The posteriors of R rows, and which of them are kept.
template <class V>
struct PosteriorRows {
    V *values;       // [R][N + 1] of kPosteriorOne, plus a half, so that truncation rounds
    uint16_t *hits;  // [R][hit_stride] lanes whose value is kept
    int64_t hit_stride;
};

/// Compute a posterior from its two parts; return the expected accuracy starting at its cell.
template <class V>
[[gnu::always_inline]] inline V finish_cell(V by_hmm, V by_part, V diagonal, V below, V right, V lowest, V &value,
                                            uint16_t &hits) {
    const V P = root(fma(by_hmm, by_hmm, by_part * by_part));
    value = fma(P, every<V>(static_cast<typename Real<V>::T>(kPosteriorOne)), every<V>(typename Real<V>::T{0.5f}));
    hits = static_cast<uint16_t>(lanes_at_least(value, lowest));
    return larger(larger(diagonal + P, below), right);
}

/// Compute rows x[R - 1] .. x[0], upwards. `state` is [N + 1][kPosteriorUp].
template <int R, bool kScale, class V, class Letters>
[[gnu::noinline]] void backward_rows(const Constants<V> &constants, const Columns<V, Letters> &columns,
                                     const uint8_t *x, RightEdge<V> &edge, V *state, const V *kept,
                                     const PosteriorRows<V> &out) {
    const Constants<V> c = constants;
    const Letters letters = columns.letters;
    const V *const is_end = columns.is_end;
    V *const values = out.values;
    uint16_t *const hits = out.hits;
    const int64_t hit_stride = out.hit_stride;
    typename Letters::Row row[R];
    V right[R], Y1[R], Y2[R], right_t[R], E[R], D[R], diagonal_d{};
    for (int r = 0; r < R; ++r) {
        row[r] = letters.row(x[r]);
        right[r] = Y1[r] = Y2[r] = right_t[r] = E[r] = D[r] = V{};
    }
    const V hmm_scale = edge.hmm_scale, part_scale = edge.part_scale, lowest = edge.lowest;
    if constexpr (kScale) edge.part_end = edge.part_end * part_scale, edge.hmm_free = edge.hmm_free * hmm_scale;
    const V end = edge.part_end, free = edge.hmm_free;
    V highest{};
    const int64_t stride = int64_t{columns.N} + 1;
    auto column = [&](int j, auto is_tail) __attribute__((always_inline)) {
        const typename Letters::Index y = letters.at(j);
        V *at = state + int64_t{kPosteriorUp} * j;
        V g = at[0], x1 = at[1], x2 = at[2], h = at[3], f = at[4], d = at[5];
        if constexpr (kScale)
            g = g * hmm_scale, x1 = x1 * hmm_scale, x2 = x2 * hmm_scale, h = h * part_scale, f = f * part_scale;
        V diagonal = diagonal_d;
        diagonal_d = d;
#pragma GCC unroll 2
        for (int r = R - 1; r >= 0; --r) {
            V B = fma(c.a1, x1 + Y1[r], fma(c.a2, x2 + Y2[r], right[r]));
            if constexpr (decltype(is_tail)::value) B = fma(is_end[j], free, B);
            x1 = fma(c.e1, x1, right[r]), x2 = fma(c.e2, x2, right[r]);
            Y1[r] = fma(c.e1, Y1[r], right[r]), Y2[r] = fma(c.e2, Y2[r], right[r]);
            right[r] = g;
            g = row[r].hmm(y) * B;
            V C = fma(c.open, f + E[r], right_t[r]);
            if constexpr (decltype(is_tail)::value) C = fma(is_end[j], end, C);
            f = fma(c.extend, f, right_t[r]);
            E[r] = fma(c.extend, E[r], right_t[r]);
            right_t[r] = h;
            h = row[r].part(y) * C;
            const V *match = kept + 2 * (r * stride + j);
            d = finish_cell(match[0] * B, match[1] * C, diagonal, d, D[r], lowest, values[r * stride + j],
                            hits[r * hit_stride + j]);
            diagonal = D[r];
            D[r] = d;
            if constexpr (kScale) highest = larger(B, larger(C, highest));
        }
        at[0] = g, at[1] = x1, at[2] = x2, at[3] = h, at[4] = f, at[5] = d;
    };
    int j = columns.N;
    for (; j >= columns.first_end; --j) column(j, std::true_type{});
    for (; j >= 1; --j) column(j, std::false_type{});
    if constexpr (kScale) edge.highest = larger(highest, edge.highest);
}

/// Compute the last row, where the backward sweep starts.
template <class V, class Letters>
[[gnu::noinline]] void backward_last(const Constants<V> &c, const PosteriorModel &model,
                                     const Columns<V, Letters> &columns, uint8_t x, const RightEdge<V> &edge, V *state,
                                     const V *kept, const PosteriorRows<V> &out) {
    using T = typename Real<V>::T;
    const V match_end = edge.hmm_end * every<V>(static_cast<T>(model.end_match));
    const V end1 = edge.hmm_end * every<V>(static_cast<T>(model.end_insert[0] / model.add[0]));
    const V end2 = edge.hmm_end * every<V>(static_cast<T>(model.end_insert[1] / model.add[1]));
    const auto row = columns.letters.row(x);
    V Y1{}, Y2{}, D{};
    for (int j = columns.N; j >= 1; --j) {
        const auto y = columns.letters.at(j);
        V *at = state + int64_t{kPosteriorUp} * j;
        const V is_end = columns.is_end[j];
        const V end = fma(is_end, match_end - edge.hmm_free, edge.hmm_free);
        const V B = end + fma(c.a1, Y1, c.a2 * Y2), C = edge.part_end;
        Y1 = fma(is_end, end1, c.e1 * Y1), Y2 = fma(is_end, end2, c.e2 * Y2);
        at[0] = row.hmm(y) * B, at[1] = is_end * end1, at[2] = is_end * end2;
        at[3] = row.part(y) * C, at[4] = V{};
        D = finish_cell(kept[2 * j] * B, kept[2 * j + 1] * C, V{}, V{}, D, edge.lowest, out.values[j], out.hits[j]);
        at[5] = D;
    }
}

}  // namespace tropalign::TROPALIGN_ISA
