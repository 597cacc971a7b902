// The part of a matrix chain's tile that is nearly a product of matrices: a cut at k also adds p_i p_k p_j.
//
//     c[i,j] = min(c[i,j], (a[i,k] + b[k,j]) + p_i (p_k p_j))
//
// p_k p_j is computed once per vector of b and serves the rows of a block; the addition of the product is fused
// with it, on processor units that the minimum and the other addition leave idle. All numbers are integers below
// 2^53, for which floats are exact, so that fusing does not change the result.
#pragma once
#include <algorithm>
#include <cstring>

#include "product_block.hpp"
#include "triangular.hpp"

namespace tropalign::TROPALIGN_ISA {

template <int R>
struct ChainRows;

/// Return x * y + z, fused if the instruction set can.
[[gnu::always_inline]] inline Vec<double, kVectorBytes> fused_sum(Vec<double, kVectorBytes> x,
                                                                  Vec<double, kVectorBytes> y,
                                                                  Vec<double, kVectorBytes> z) {
    return fma(x, y, z);
}

#define TROPALIGN_CHAIN_CELLS_OF(X, j) X(0, j) X(1, j) X(2, j) X(3, j)
#define TROPALIGN_CHAIN_CELLS(X)   \
    TROPALIGN_CHAIN_CELLS_OF(X, 0) \
    TROPALIGN_CHAIN_CELLS_OF(X, 1) TROPALIGN_CHAIN_CELLS_OF(X, 2) TROPALIGN_CHAIN_CELLS_OF(X, 3)
#define TROPALIGN_DECLARE(r, j) [[maybe_unused]] V c##r##j;
#define TROPALIGN_LOAD(r, j) \
    if constexpr (R > r && C > j) c##r##j = load<double, kVectorBytes>(c + r * ldc + j * lanes);
#define TROPALIGN_STEP(r, j) \
    if constexpr (R > r && C > j) c##r##j = smaller(fused_sum(p##r, pair, V(left##r + right)), c##r##j);
#define TROPALIGN_STEP_COLUMN(j)                                                 \
    if constexpr (C > j) {                                                       \
        const V right = load<double, kVectorBytes>(b + j * lanes);               \
        const V pair = V(p_k * load<double, kVectorBytes>(columns + j * lanes)); \
        TROPALIGN_CHAIN_CELLS_OF(TROPALIGN_STEP, j)                              \
    }
#define TROPALIGN_STORE(r, j) \
    if constexpr (R > r && C > j) store<double, kVectorBytes>(c + r * ldc + j * lanes, c##r##j);

/// Improve R rows and C vectors of c; rows, cuts and columns are the p of i, k and j.
template <int R, int C>
void chain_block(const double *a, int64_t lda, const double *b, int64_t ldb, double *c, int64_t ldc, const double *rows,
                 const double *cuts, const double *columns, int64_t depth) {
    using V = Vec<double, kVectorBytes>;
    constexpr int lanes = kVectorBytes / 8;
    TROPALIGN_CHAIN_CELLS(TROPALIGN_DECLARE)
    TROPALIGN_CHAIN_CELLS(TROPALIGN_LOAD)
    [[maybe_unused]] const V p0 = spread<V>(rows[0]), p1 = spread<V>(rows[1]), p2 = spread<V>(rows[R > 2 ? 2 : 0]),
                             p3 = spread<V>(rows[R > 3 ? 3 : 0]);
    for (int64_t k = 0; k < depth; ++k, b += ldb) {
        const V p_k = spread<V>(cuts[k]);
        [[maybe_unused]] const V left0 = spread<V>(a[k]), left1 = spread<V>(a[lda + k]);
        [[maybe_unused]] V left2, left3;
        if constexpr (R > 2) left2 = spread<V>(a[2 * lda + k]);
        if constexpr (R > 3) left3 = spread<V>(a[3 * lda + k]);
        TROPALIGN_STEP_COLUMN(0)
        TROPALIGN_STEP_COLUMN(1)
        TROPALIGN_STEP_COLUMN(2)
        TROPALIGN_STEP_COLUMN(3)
    }
    TROPALIGN_CHAIN_CELLS(TROPALIGN_STORE)
}

#undef TROPALIGN_STORE
#undef TROPALIGN_STEP_COLUMN
#undef TROPALIGN_STEP
#undef TROPALIGN_LOAD
#undef TROPALIGN_DECLARE
#undef TROPALIGN_CHAIN_CELLS
#undef TROPALIGN_CHAIN_CELLS_OF

/// Improve a tile c (rows of kTriangleTile) by `depth` cuts. Rows of b are copied to a dense panel.
inline void chain_tile(const double *a, const double *b, int64_t stride, double *c, const double *rows,
                       const double *cuts, const double *columns, int64_t depth) {
    constexpr int R = kVectorBytes == 64 ? 4 : 2, C = R;
    constexpr int64_t width = C * kVectorBytes / 8, most = 128;
    alignas(64) double panel[most * width];
    for (int64_t j = 0; j < kTriangleTile; j += width)
        for (int64_t k = 0; k < depth; k += most) {
            const int64_t n = std::min(most, depth - k);
            for (int64_t l = 0; l < n; ++l)
                std::memcpy(panel + l * width, b + (k + l) * stride + j, sizeof(double) * width);
            for (int64_t i = 0; i < kTriangleTile; i += R)
                chain_block<R, C>(a + i * stride + k, stride, panel, width, c + i * kTriangleTile + j, kTriangleTile,
                                  rows + i, cuts + k, columns + j, n);
        }
}

}  // namespace tropalign::TROPALIGN_ISA
