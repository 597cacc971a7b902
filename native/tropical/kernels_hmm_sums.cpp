// Steps forward and backward through a hidden Markov model: products of a vector and a matrix, in doubles.
//
// The scale of a step is a power of two, by the highest number of the step before, so that finding it does not delay
// the step:
//
//     x(t) --> product with the matrix --> times emission and scale --> x(t + 1)
//       \--> highest --> exponent -----------------------/
#include <bit>
#include <cmath>

#include "../simd/real.hpp"
#include "hmm_sum_kernels.hpp"

namespace tropalign::TROPALIGN_ISA {
namespace {

using V = Vec<double, kVectorBytes>;
using M = Vec<int64_t, kVectorBytes>;
constexpr int kLanes = kVectorBytes / 8;
/// Vectors of a block of eight states.
constexpr int kParts = kStateBlock / kLanes;

[[gnu::always_inline]] inline V get(const double *from) { return load<double, kVectorBytes>(from); }
[[gnu::always_inline]] inline void put(double *to, V v) { store<double, kVectorBytes>(to, v); }

/// Eight numbers, added or compared in the same order on every instruction set.
struct Eight {
    V part[kParts] = {};

    [[gnu::always_inline]] double sum() const {
        alignas(64) double v[8];
        for (int k = 0; k < kParts; ++k) put(v + k * kLanes, part[k]);
        return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
    }
};

[[gnu::always_inline]] inline double highest_of(V v) {
    double most = v[0];
    for (int l = 1; l < kLanes; ++l) most = v[l] > most ? v[l] : most;
    return most;
}

/// Its power of two: that of the smallest normal number for smaller ones.
[[gnu::always_inline]] inline int64_t exponent_of(double value) {
    const auto bits = static_cast<int64_t>(std::bit_cast<uint64_t>(value) >> 52);
    return (bits < 1 ? 1 : bits) - 1023;
}
/// 2^-exponent, for what exponent_of gives.
[[gnu::always_inline]] inline double scale_of(int64_t exponent) {
    return std::bit_cast<double>(static_cast<uint64_t>(1023 - exponent) << 52);
}

/// Sums of `Vectors` neighbouring vectors of columns over all rows.
template <int Vectors, int Partial>
[[gnu::always_inline]] inline void columns(const double *x, const double *matrix, int64_t stride, int64_t n_rows,
                                           double *sums) {
    V found[Partial][Vectors] = {};
    int64_t i = 0;
    for (; i + Partial <= n_rows; i += Partial, matrix += Partial * stride)
#pragma GCC unroll 4
        for (int p = 0; p < Partial; ++p) {
            const V factor = every<V>(x[i + p]);
#pragma GCC unroll 8
            for (int v = 0; v < Vectors; ++v) found[p][v] += factor * get(matrix + p * stride + v * kLanes);
        }
#pragma GCC unroll 4
    for (int p = 0; p < Partial - 1; ++p)
        if (i + p < n_rows)
#pragma GCC unroll 8
            for (int v = 0; v < Vectors; ++v) found[p][v] += every<V>(x[i + p]) * get(matrix + p * stride + v * kLanes);
#pragma GCC unroll 8
    for (int v = 0; v < Vectors; ++v) {
        if constexpr (Partial == 4) put(sums + v * kLanes, (found[0][v] + found[2][v]) + (found[1][v] + found[3][v]));
        else put(sums + v * kLanes, found[0][v] + found[1][v]);
    }
}

/// Vectors of columns that are summed at a time: as many as keep the adders busy and the sums in registers.
constexpr int kAtOnce = 4;

template <int Partial>
[[gnu::always_inline]] inline void tile_sums(const double *x, const double *matrix, int64_t width, int64_t n_rows,
                                             double *sums) {
    const int64_t vectors = width / kLanes;
    int64_t v = 0;
    if constexpr (Partial == 2)
        for (; v + kAtOnce <= vectors; v += kAtOnce)
            columns<kAtOnce, Partial>(x, matrix + v * kLanes, width, n_rows, sums + v * kLanes);
    for (; v + 2 <= vectors; v += 2) columns<2, Partial>(x, matrix + v * kLanes, width, n_rows, sums + v * kLanes);
    if (v < vectors) columns<1, Partial>(x, matrix + v * kLanes, width, n_rows, sums + v * kLanes);
}

/// sums[j] = sum over i of x[i] * matrix[i, j].
[[gnu::always_inline]] inline void product(const SumSteps &steps, const double *x, double *sums) {
    if (steps.padded <= 16) {
        tile_sums<4>(x, steps.matrix, steps.padded, steps.n_states, sums);
        return;
    }
    const double *matrix = steps.matrix;
    for (int64_t j = 0; j < steps.padded; j += kTileColumns) {
        const int64_t width = steps.padded - j < kTileColumns ? steps.padded - j : kTileColumns;
        tile_sums<2>(x, matrix, width, steps.n_states, sums + j);
        matrix += width * steps.n_states;
    }
}

[[gnu::always_inline]] inline double highest_in(const double *x, int64_t padded) {
    V most = get(x);
    for (int64_t j = kLanes; j < padded; j += kLanes) most = larger(most, get(x + j));
    return highest_of(most);
}

template <class Mask>
[[gnu::always_inline]] inline bool any_of(Mask mask) {
    int64_t all = 0;
    for (int l = 0; l < kLanes; ++l) all |= mask[l];
    return all != 0;
}

/// A product that is below kTiny although no factor is 0.
[[gnu::always_inline]] inline M is_lost(V product, V a, V b) {
    return (M)(product < every<V>(kTiny)) & (M)(a != V{}) & (M)(b != V{});
}

template <bool Checked>
bool forward_steps(const SumSteps &steps, double *x, int64_t &exponent, double *rows) {
    const int64_t padded = steps.padded;
    alignas(64) double small[4 * kStateBlock];
    double *sums = padded <= 4 * kStateBlock ? small : x + padded;
    M lost{};
    double most = highest_in(x, padded);
    for (int64_t t = 0; t < steps.n_steps; ++t) {
        const int64_t power = exponent_of(most);
        const V scale = every<V>(scale_of(power));
        exponent += power;
        product(steps, x, sums);
        const double *emission = steps.emissions + steps.index[t] * padded;
        V highest{};
        for (int64_t j = 0; j < padded; j += kLanes) {
            const V factor = get(emission + j) * scale, sum = get(sums + j), y = sum * factor;
            if constexpr (Checked) lost |= is_lost(y, sum, factor);
            highest = larger(highest, y);
            put(x + j, y);
            if (rows) put(rows + t * padded + j, y);
        }
        most = highest_of(highest);
        if constexpr (Checked)
            if (most < 0x1p-400) return false;
    }
    return !Checked || !any_of(lost);
}

bool forward(const SumSteps &steps, double *x, int64_t &exponent, double *rows) {
    return steps.is_checked ? forward_steps<true>(steps, x, exponent, rows)
                            : forward_steps<false>(steps, x, exponent, rows);
}

/// posteriors = forward sums times backward sums, to be divided by what is returned.
[[gnu::always_inline]] inline double join(double *row, const double *beta, double *weighted, int64_t padded) {
    Eight total;
    for (int64_t j = 0; j < padded; j += kStateBlock)
        for (int k = 0; k < kParts; ++k) {
            const V alpha = get(row + j + k * kLanes), both = alpha * get(beta + j + k * kLanes);
            total.part[k] += both;
            if (weighted) put(weighted + j + k * kLanes, alpha);
            put(row + j + k * kLanes, both);
        }
    return total.sum();
}

[[gnu::always_inline]] inline void multiply(double *row, double by, int64_t padded) {
    for (int64_t j = 0; j < padded; j += kLanes) put(row + j, get(row + j) * every<V>(by));
}

template <bool Checked>
bool backward_steps(const SumSteps &steps, double *beta, double *rows, double *weighted, double *arriving) {
    const int64_t padded = steps.padded;
    double *product_of = beta + padded, *leaving = beta + 2 * padded;
    M lost{};
    for (int64_t t = steps.n_steps - 1; t >= 0; --t) {
        double *row = rows + t * padded, *kept = weighted ? weighted + t * padded : nullptr;
        const double total = join(row, beta, kept, padded);
        if (!(total > kTiny)) return false;
        multiply(row, 1 / total, padded);
        if (kept) multiply(kept, 1 / total, padded);
        const V scale = every<V>(scale_of(exponent_of(highest_in(beta, padded))));
        const double *emission = steps.emissions + steps.index[t] * padded;
        for (int64_t j = 0; j < padded; j += kLanes) {
            const V factor = get(emission + j), from = get(beta + j) * scale, b = from * factor;
            if constexpr (Checked) lost |= is_lost(b, from, factor);
            put(leaving + j, b);
            if (arriving) put(arriving + t * padded + j, b);
        }
        product(steps, leaving, product_of);
        for (int64_t j = 0; j < padded; j += kLanes) {
            const V sum = get(product_of + j);
            if constexpr (Checked) lost |= is_lost(sum, sum, sum);
            put(beta + j, sum);
        }
    }
    return !Checked || !any_of(lost);
}

bool backward(const SumSteps &steps, double *beta, double *rows, double *weighted, double *arriving) {
    return steps.is_checked ? backward_steps<true>(steps, beta, rows, weighted, arriving)
                            : backward_steps<false>(steps, beta, rows, weighted, arriving);
}

/// Four rows of counts by `Vectors` vectors.
template <int Rows, int Vectors>
[[gnu::always_inline]] inline void outer_tile(const double *a, const double *b, int64_t n_rows, int64_t padded,
                                              double *counts) {
    V found[Rows][Vectors];
#pragma GCC unroll 4
    for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 2
        for (int v = 0; v < Vectors; ++v) found[r][v] = get(counts + r * padded + v * kLanes);
    for (int64_t t = 0; t < n_rows; ++t)
#pragma GCC unroll 4
        for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 2
            for (int v = 0; v < Vectors; ++v)
                found[r][v] += every<V>(a[t * padded + r]) * get(b + t * padded + v * kLanes);
#pragma GCC unroll 4
    for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 2
        for (int v = 0; v < Vectors; ++v) put(counts + r * padded + v * kLanes, found[r][v]);
}

void add_outer(const double *a, const double *b, int64_t n_rows, int32_t padded, double *counts) {
    constexpr int64_t kRowsAtOnce = 64;  // so that they stay in the first cache
    for (int64_t t = 0; t < n_rows; t += kRowsAtOnce) {
        const int64_t many = n_rows - t < kRowsAtOnce ? n_rows - t : kRowsAtOnce;
        for (int64_t j = 0; j < padded; j += kStateBlock)
            for (int64_t k = 0; k < kStateBlock; k += kLanes)
                for (int64_t i = 0; i < padded; i += 4)
                    outer_tile<4, 1>(a + t * padded + i, b + t * padded + j + k, many, padded,
                                     counts + i * padded + j + k);
    }
}

/// exp of numbers from -708 to 0, and 0 for lower ones: 2^k exp(r) with |r| at most half of log 2, by its series.
[[gnu::always_inline]] inline V exponential(V x) {
    const V rounder = every<V>(0x1.8p52);
    const V k = (x * every<V>(0x1.71547652b82fep0) + rounder) - rounder;
    const V r = (x - k * every<V>(0x1.62e42fefa0000p-1)) - k * every<V>(0x1.cf79abc9e3b3ap-40);
    V sum = every<V>(1.0 / 6227020800.0);
    constexpr double kFactors[] = {
        1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040, 1.0 / 720,
        1.0 / 120,       1.0 / 24,       1.0 / 6,       1.0 / 2,      1.0,         1.0};
    for (double factor : kFactors) sum = sum * r + every<V>(factor);
    // k + 1023 in the bits of the exponent: the lowest bits of k + rounder are k.
    const M power = ((M)(k + rounder) + 1023) << 52;
    const V made = sum * (V)power;
    return (V)((M)made & (M)(x > every<V>(-708.0)));
}

bool emission_rows(const double *logs, int64_t n_rows, int32_t n_states, int32_t padded, double *rows,
                   double *highest) {
    M is_far{};
    for (int64_t t = 0; t < n_rows; ++t) {
        const double *from = logs + t * n_states;
        double *row = rows + t * padded;
        double most = -INFINITY;
        for (int32_t s = 0; s < n_states; ++s) {
            most = from[s] > most ? from[s] : most;
            row[s] = from[s];
        }
        for (int32_t s = n_states; s < padded; ++s) row[s] = -INFINITY;
        highest[t] = most;
        const V shift = every<V>(most == -INFINITY ? 0 : most), none = every<V>(-INFINITY);
        for (int32_t s = 0; s < padded; s += kLanes) {
            const V x = get(row + s) - shift;
            is_far |= (M)(x < every<V>(-600.0)) & (M)(x > none);
            put(row + s, exponential(larger(x, every<V>(-1000.0))));
        }
    }
    return !any_of(is_far);
}

}  // namespace

#define TROPALIGN_STRING_(x) #x
#define TROPALIGN_STRING(x) TROPALIGN_STRING_(x)
extern const HmmSumKernels hmm_sum_kernels = {TROPALIGN_STRING(TROPALIGN_ISA), forward, backward, add_outer,
                                              emission_rows};

}  // namespace tropalign::TROPALIGN_ISA
