// Rows of the recurrences of posterior_model.hpp, a lane per pair: forward and, with posteriors, expected accuracy and
// the search for elements worth keeping, backward. Two rows go along the columns together, so that what a column hands
// to the next row is loaded and stored half as often:
//
//               j-1    j                 one step computes the cells 1 and 2 of column j; S, X and F of row i go
//               through
//     row i           (1)  <- S(i-1,j-1)      registers to row i+1, and only those of row i+1 through memory
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

/// Column 0, and what scales rows.
template <class V>
struct LeftEdge {
    V S, X1, X2, T;               // S(i-1,0), X_k(i,0); T is the partition function's S(i-1,0)
    V free;                       // of an overhang: what S(i,0) has beside X_k
    V hmm_total, part_total;      // sums of M in the last column
    V hmm_scale, part_scale;      // of the rows to come
    V hmm_highest, part_highest;  // of the row before: the largest S; and of the totals, which do not fade as S may
};

/// The columns of a unit.
template <class V, class Letters>
struct Columns {
    Letters letters;
    int N;            // columns of the longest lane
    int first_end;    // no lane's last column is before it
    const V *is_end;  // [N + 1] 1 in the lanes whose last column it is
    int width;        // of the widest row
};

/// The columns of some rows. Outside of a lane's own ones its numbers are 0, so that they are the same whatever lanes
/// are beside it.
template <class V>
struct Span {
    int first, last;              // of any lane
    int inner_first, inner_last;  // of all lanes
    V low, high;                  // of each lane

    /// 1 in the lanes that have the column.
    [[gnu::always_inline]] V inside(int j) const {
        using T = typename Real<V>::T;
        const V column = every<V>(static_cast<T>(j));
        if constexpr (Real<V>::lanes == 1) return column >= low && column <= high ? T{1} : T{0};
        else return column >= low && column <= high ? every<V>(T{1}) : V{};
    }
    /// Calls column(j, is_edge) from the left; those before `plain_end` that all lanes have are no edge.
    template <class Column>
    [[gnu::always_inline]] void rightwards(int plain_end, Column column) const {
        const int begin = std::min(inner_first, last + 1), end = std::max(std::min(inner_last + 1, plain_end), begin);
        int j = first;
        for (; j < begin; ++j) column(j, std::true_type{});
        for (; j < end; ++j) column(j, std::false_type{});
        for (; j <= last; ++j) column(j, std::true_type{});
    }
    /// From the right.
    template <class Column>
    [[gnu::always_inline]] void leftwards(int plain_end, Column column) const {
        const int begin = std::min(inner_first, last + 1), end = std::max(std::min(inner_last + 1, plain_end), begin);
        int j = last;
        for (; j >= end; --j) column(j, std::true_type{});
        for (; j >= begin; --j) column(j, std::false_type{});
        for (; j >= first; --j) column(j, std::true_type{});
    }
};

/// Odds and Boltzmann factors of the row's letter and 16 letters of the y's, out of a table row in two registers.
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

/// Odds and factors looked up beforehand for every letter of x.
template <class V>
struct ProfiledLetters {
    const V *profile;  // [row of the letter][column][2], from column 1
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

/// Rows of the letters x[0] .. x[R - 1], the columns of a span. `state` is [N + 1][kPosteriorDown]; `kept`,
/// [R][width + 1][2] from the span's first column on, gets M of both.
template <int R, bool kScale, bool kMax, class V, class Letters>
[[gnu::noinline]] void forward_rows(const Constants<V> &constants, const Columns<V, Letters> &columns, const uint8_t *x,
                                    LeftEdge<V> &edge, const Span<V> &span, V *state, V *kept) {
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
    if (span.first > 1) {  // the column before is that of the row above, or nothing
        const V *before = state + int64_t{kPosteriorDown} * (span.first - 1);
        for (int r = 0; r < R; ++r) diagonal[r] = diagonal_t[r] = V{};
        diagonal[0] = before[0], diagonal_t[0] = before[3];
        if constexpr (kScale) diagonal[0] = diagonal[0] * hmm_scale, diagonal_t[0] = diagonal_t[0] * part_scale;
    }
    V hmm_highest{}, part_highest{};
    const int64_t stride = 2 * (int64_t{columns.width} + 1);
    auto column = [&](int j, auto is_edge) __attribute__((always_inline)) {
        const typename Letters::Index y = letters.at(j);
        V *at = state + int64_t{kPosteriorDown} * j;
        const V inside = is_edge ? span.inside(j) : V{};
        V above = at[0], x1 = at[1], x2 = at[2], above_t = at[3], f = at[4];
        if constexpr (kScale) {
            above = above * hmm_scale, x1 = x1 * hmm_scale, x2 = x2 * hmm_scale;
            above_t = above_t * part_scale, f = f * part_scale;
        }
#pragma GCC unroll 2
        for (int r = 0; r < R; ++r) {
            V M = row[r].hmm(y) * diagonal[r];
            if constexpr (is_edge) M = M * inside;
            diagonal[r] = above;
            above = fma(c.a1, x1 + Y1[r], fma(c.a2, x2 + Y2[r], M));
            if constexpr (is_edge) above = above * inside;
            x1 = fma(c.e1, x1, M), x2 = fma(c.e2, x2, M);
            Y1[r] = fma(c.e1, Y1[r], M), Y2[r] = fma(c.e2, Y2[r], M);
            V Z = row[r].part(y) * diagonal_t[r];
            if constexpr (is_edge) Z = Z * inside;
            diagonal_t[r] = above_t;
            above_t = fma(c.open, f + E[r], Z);
            if constexpr (is_edge) above_t = above_t * inside;
            f = fma(c.extend, f, Z);
            E[r] = fma(c.extend, E[r], Z);
            if constexpr (is_edge) {
                hmm_total = fma(is_end[j], M, hmm_total);
                total = fma(is_end[j], Z, total);
            }
            V *const match = kept + r * stride + 2 * (j - span.first);
            match[0] = M, match[1] = Z;
        }
        at[0] = above, at[1] = x1, at[2] = x2, at[3] = above_t, at[4] = f;
        if constexpr (kMax) hmm_highest = larger(above, hmm_highest), part_highest = larger(above_t, part_highest);
    };
    span.rightwards(columns.first_end, column);
    edge.hmm_total = hmm_total, edge.part_total = total;
    if constexpr (kMax) {
        edge.hmm_highest = larger(c.free * hmm_total, hmm_highest);
        edge.part_highest = larger(total, part_highest);
    }
}

/// The last row, after which both totals are known. It is scaled.
template <class V, class Letters>
[[gnu::noinline]] void forward_last(const Constants<V> &c, const PosteriorModel &model,
                                    const Columns<V, Letters> &columns, uint8_t x, LeftEdge<V> &edge,
                                    const Span<V> &span, const V *state, V *kept, V &hmm_total, V &part_total) {
    using T = typename Real<V>::T;
    const V end_match = every<V>(static_cast<T>(model.end_match));
    const V end1 = every<V>(static_cast<T>(model.end_insert[0])), end2 = every<V>(static_cast<T>(model.end_insert[1]));
    const auto row = columns.letters.row(x);
    V diagonal = edge.S * edge.hmm_scale, diagonal_t = edge.T * edge.part_scale, Y1{}, Y2{};
    if (span.first > 1) {
        const V *before = state + int64_t{kPosteriorDown} * (span.first - 1);
        diagonal = before[0] * edge.hmm_scale, diagonal_t = before[3] * edge.part_scale;
    }
    V row_total{}, corner{}, hmm_row{}, hmm_corner{};  // apart, so that x and y may change places
    for (int j = span.first; j <= span.last; ++j) {
        const auto y = columns.letters.at(j);
        const V *at = state + int64_t{kPosteriorDown} * j;
        const V inside = span.inside(j), M = row.hmm(y) * diagonal * inside, Z = row.part(y) * diagonal_t * inside;
        diagonal = at[0] * edge.hmm_scale, diagonal_t = at[3] * edge.part_scale;
        const V X1 = at[1] * edge.hmm_scale, X2 = at[2] * edge.hmm_scale;
        hmm_corner = fma(columns.is_end[j], fma(end_match, M, fma(end1, X1 + Y1, end2 * (X2 + Y2))), hmm_corner);
        hmm_row = hmm_row + (M - columns.is_end[j] * M);
        corner = fma(columns.is_end[j], Z, corner);
        row_total = row_total + (Z - columns.is_end[j] * Z);
        Y1 = fma(c.e1, Y1, M), Y2 = fma(c.e2, Y2, M);
        kept[2 * (j - span.first)] = M, kept[2 * (j - span.first) + 1] = Z;
    }
    hmm_total = fma(c.free, edge.hmm_total * edge.hmm_scale + hmm_row, hmm_corner);
    part_total = (edge.part_total * edge.part_scale + row_total) + corner;
}

/// Column N + 1, and what the backward sweep is scaled by.
template <class V>
struct RightEdge {
    V hmm_end,
        part_end;  // what a match is worth in the last cell to the pair-HMM, in the last row or column to the other
    V hmm_free;    // the same to the pair-HMM in the other cells of the last row and column: an overhang
    V hmm_scale, part_scale;  // of the rows to come
    V highest;                // of the values that are multiplied with those of `kept`
    V lowest;                 // fixed-point values from here on are worth keeping
};

/// The posteriors of R rows and what is to be known of them.
template <class V>
struct PosteriorRows {
    V *values;       // [R][N + 1] of kPosteriorOne, and a half, so that what is before the point is rounded
    uint16_t *hits;  // [R][hit_stride] lanes whose value is worth keeping
    int64_t hit_stride;
};

/// A posterior out of its two parts, and the expected accuracy from its cell on.
template <class V>
[[gnu::always_inline]] inline V finish_cell(V by_hmm, V by_part, V diagonal, V below, V right, V lowest, V &value,
                                            uint16_t &hits) {
    const V P = root(fma(by_hmm, by_hmm, by_part * by_part));
    value = fma(P, every<V>(static_cast<typename Real<V>::T>(kPosteriorOne)), every<V>(typename Real<V>::T{0.5f}));
    hits = static_cast<uint16_t>(lanes_at_least(value, lowest));
    return larger(larger(diagonal + P, below), right);
}

/// Rows x[R - 1] .. x[0], upwards, the columns of a span. `state` is [N + 1][kPosteriorUp].
template <int R, bool kScale, class V, class Letters>
[[gnu::noinline]] void backward_rows(const Constants<V> &constants, const Columns<V, Letters> &columns,
                                     const uint8_t *x, RightEdge<V> &edge, const Span<V> &span, V *state, const V *kept,
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
    if (span.last < columns.N) {  // the column behind is that of the row below, or nothing; accuracy stays as it was
        const V *behind = state + int64_t{kPosteriorUp} * (span.last + 1);
        right[R - 1] = behind[0], right_t[R - 1] = behind[3];
        if constexpr (kScale) right[R - 1] = right[R - 1] * hmm_scale, right_t[R - 1] = right_t[R - 1] * part_scale;
        diagonal_d = behind[5];
        for (int r = 0; r < R; ++r) D[r] = diagonal_d;
    }
    V highest{};
    const int64_t stride = int64_t{columns.N} + 1, kept_stride = int64_t{columns.width} + 1;
    auto column = [&](int j, auto is_edge) __attribute__((always_inline)) {
        const typename Letters::Index y = letters.at(j);
        V *at = state + int64_t{kPosteriorUp} * j;
        const V inside = is_edge ? span.inside(j) : V{};
        V g = at[0], x1 = at[1], x2 = at[2], h = at[3], f = at[4], d = at[5];
        if constexpr (kScale)
            g = g * hmm_scale, x1 = x1 * hmm_scale, x2 = x2 * hmm_scale, h = h * part_scale, f = f * part_scale;
        V diagonal = diagonal_d;
        diagonal_d = d;
#pragma GCC unroll 2
        for (int r = R - 1; r >= 0; --r) {
            if constexpr (is_edge) right[r] = right[r] * inside, right_t[r] = right_t[r] * inside;
            V B = fma(c.a1, x1 + Y1[r], fma(c.a2, x2 + Y2[r], right[r]));
            if constexpr (is_edge) B = fma(is_end[j], free, B) * inside;
            x1 = fma(c.e1, x1, right[r]), x2 = fma(c.e2, x2, right[r]);
            Y1[r] = fma(c.e1, Y1[r], right[r]), Y2[r] = fma(c.e2, Y2[r], right[r]);
            right[r] = g;
            g = row[r].hmm(y) * B;
            V C = fma(c.open, f + E[r], right_t[r]);
            if constexpr (is_edge) C = fma(is_end[j], end, C) * inside;
            f = fma(c.extend, f, right_t[r]);
            E[r] = fma(c.extend, E[r], right_t[r]);
            right_t[r] = h;
            h = row[r].part(y) * C;
            const V *match = kept + 2 * (r * kept_stride + j - span.first);
            d = finish_cell(match[0] * B, match[1] * C, diagonal, d, D[r], lowest, values[r * stride + j],
                            hits[r * hit_stride + j]);
            diagonal = D[r];
            D[r] = d;
            if constexpr (kScale) highest = larger(B, larger(C, highest));
        }
        at[0] = g, at[1] = x1, at[2] = x2, at[3] = h, at[4] = f, at[5] = d;
    };
    span.leftwards(columns.first_end, column);
    if constexpr (kScale) edge.highest = larger(highest, edge.highest);
}

/// The last row, where the backward sweep begins.
template <class V, class Letters>
[[gnu::noinline]] void backward_last(const Constants<V> &c, const PosteriorModel &model,
                                     const Columns<V, Letters> &columns, uint8_t x, const RightEdge<V> &edge,
                                     const Span<V> &span, V *state, const V *kept, const PosteriorRows<V> &out) {
    using T = typename Real<V>::T;
    const V match_end = edge.hmm_end * every<V>(static_cast<T>(model.end_match));
    const V end1 = edge.hmm_end * every<V>(static_cast<T>(model.end_insert[0] / model.add[0]));
    const V end2 = edge.hmm_end * every<V>(static_cast<T>(model.end_insert[1] / model.add[1]));
    const auto row = columns.letters.row(x);
    V Y1{}, Y2{}, D{};
    for (int j = span.last; j >= span.first; --j) {
        const auto y = columns.letters.at(j);
        V *at = state + int64_t{kPosteriorUp} * j;
        const V is_end = columns.is_end[j], inside = span.inside(j);
        const V end = fma(is_end, match_end - edge.hmm_free, edge.hmm_free);
        const V B = (end + fma(c.a1, Y1, c.a2 * Y2)) * inside, C = edge.part_end * inside;
        Y1 = fma(is_end, end1, c.e1 * Y1), Y2 = fma(is_end, end2, c.e2 * Y2);
        at[0] = row.hmm(y) * B, at[1] = is_end * end1, at[2] = is_end * end2;
        at[3] = row.part(y) * C, at[4] = V{};
        const V *match = kept + 2 * (j - span.first);
        D = finish_cell(match[0] * B, match[1] * C, V{}, V{}, D, edge.lowest, out.values[j], out.hits[j]);
        at[5] = D;
    }
}

}  // namespace tropalign::TROPALIGN_ISA
