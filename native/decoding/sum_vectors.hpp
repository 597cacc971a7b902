// Functions shared by the kernels of sums: vectors of states, products with a matrix, powers of two.
#pragma once
#include <bit>

#include "../simd/real.hpp"
#include "sum_kernels.hpp"

namespace tropalign::TROPALIGN_ISA {
namespace {

using V = Vec<double, kVectorBytes>;
using M = Vec<int64_t, kVectorBytes>;
constexpr int kLanes = kVectorBytes / 8;
/// Vectors of a block of eight states.
constexpr int kParts = kStateBlock / kLanes;

[[gnu::always_inline]] inline V get(const double *from) { return load<double, kVectorBytes>(from); }
[[gnu::always_inline]] inline void put(double *to, V v) { store<double, kVectorBytes>(to, v); }

using Two = Vec<double, 16>;

/// Combine both lanes by a function of two vectors, after combining the halves of larger vectors.
template <class W, class Join>
[[gnu::always_inline]] inline double folded(W v, Join join) {
    if constexpr (sizeof(W) == 64)
        return folded(join(__builtin_shufflevector(v, v, 0, 1, 2, 3), __builtin_shufflevector(v, v, 4, 5, 6, 7)), join);
    else if constexpr (sizeof(W) == 32)
        return folded(join(__builtin_shufflevector(v, v, 0, 1), __builtin_shufflevector(v, v, 2, 3)), join);
    else return join(v, __builtin_shufflevector(v, v, 1, 0))[0];
}

/// Eight numbers, added in the same order on every instruction set: first those four apart, then those two apart,
/// then the rest.
struct Eight {
    V part[kParts] = {};

    [[gnu::always_inline]] double sum() const {
        const auto add = [](auto a, auto b) __attribute__((always_inline)) { return a + b; };
        if constexpr (kParts == 4) return folded((part[0] + part[2]) + (part[1] + part[3]), add);
        else if constexpr (kParts == 2) return folded(part[0] + part[1], add);
        else return folded(part[0], add);
    }
};

[[gnu::always_inline]] inline double highest_of(V v) {
    return folded(v, [](auto a, auto b) __attribute__((always_inline)) { return larger(a, b); });
}

/// Return the power of two of a number; for smaller ones, that of the smallest normal number.
[[gnu::always_inline]] inline int64_t exponent_of(double value) {
    const auto bits = static_cast<int64_t>(std::bit_cast<uint64_t>(value) >> 52);
    return (bits < 1 ? 1 : bits) - 1023;
}
/// Return 2^-exponent, for a result of exponent_of.
[[gnu::always_inline]] inline double scale_of(int64_t exponent) {
    return std::bit_cast<double>(static_cast<uint64_t>(1023 - exponent) << 52);
}

/// Compute sums of `Vectors` neighbouring vectors of columns over all rows.
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

[[gnu::always_inline]] inline double highest_in(const double *x, int64_t padded) {
    V most = get(x);
    for (int64_t j = kLanes; j < padded; j += kLanes) most = larger(most, get(x + j));
    return highest_of(most);
}

/// The power of two of x at a position at which numbers are scaled, and the factor that removes it.
struct Scaling {
    int64_t power;
    double scale;
};
[[gnu::always_inline]] inline Scaling scaling_of(const double *x, int64_t padded) {
    const int64_t power = exponent_of(highest_in(x, padded));
    return {power, scale_of(power)};
}

}  // namespace
}  // namespace tropalign::TROPALIGN_ISA
