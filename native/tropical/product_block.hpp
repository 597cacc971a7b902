// The innermost part of a product: R rows by C vectors of c, kept in registers for all k.
//
//                       b_0  b_1  b_2  b_3     vectors of row k of b
//     a[0,k] in all   [ c00  c01  c02  c03 ]
//     a[1,k] lanes    [ c10  c11  c12  c13 ]   c = best(c, a + b)
//     ...
//
// The sums are separate variables (c00 to c53): GCC 12 keeps arrays of vectors in memory.
#pragma once
#include <type_traits>
#include <utility>

#include "../simd/real.hpp"
#include "product.hpp"

namespace tropalign::TROPALIGN_ISA {

/// Return the better of two numbers, `b` if neither is better.
template <Order order, class T, class V>
[[gnu::always_inline]] inline V better(V a, V b) {
    // The comparison is inside the conditional, so that the compiler makes one instruction of both.
    if constexpr (std::is_floating_point_v<T>) return is_highest<order>() ? larger(a, b) : smaller(a, b);
    else return is_highest<order>() ? (a > b ? a : b) : (a < b ? a : b);
}

#define TROPALIGN_ROWS(X) X(0) X(1) X(2) X(3) X(4) X(5)
#define TROPALIGN_CELLS_OF(X, r) X(r, 0) X(r, 1) X(r, 2) X(r, 3)
#define TROPALIGN_CELLS(X)   \
    TROPALIGN_CELLS_OF(X, 0) \
    TROPALIGN_CELLS_OF(X, 1) \
    TROPALIGN_CELLS_OF(X, 2) TROPALIGN_CELLS_OF(X, 3) TROPALIGN_CELLS_OF(X, 4) TROPALIGN_CELLS_OF(X, 5)
#define TROPALIGN_DECLARE(r, j) [[maybe_unused]] V c##r##j;
#define TROPALIGN_LOAD(r, j) \
    if constexpr (R > r && C > j) c##r##j = load<T, Bytes>(c + r * ldc + j * lanes);
#define TROPALIGN_STEP(r, j) \
    if constexpr (R > r && C > j) c##r##j = better<order, T>(V(left + right##j), c##r##j);
#define TROPALIGN_STEP_ROW(r)                     \
    if constexpr (R > r) {                        \
        const V left = spread<V>(a[r * lda + l]); \
        TROPALIGN_CELLS_OF(TROPALIGN_STEP, r)     \
    }
#define TROPALIGN_STORE(r, j) \
    if constexpr (R > r && C > j) store<T, Bytes>(c + r * ldc + j * lanes, c##r##j);

/// c = best(c, a (.) b) for R x C vectors of c and all k.
template <class T, Order order, int Bytes, int R, int C>
void block(const T *a, int64_t lda, const T *b, int64_t ldb, T *c, int64_t ldc, int64_t k) {
    using V = Vec<T, Bytes>;
    constexpr int lanes = Bytes / static_cast<int>(sizeof(T));
    TROPALIGN_CELLS(TROPALIGN_DECLARE)
    TROPALIGN_CELLS(TROPALIGN_LOAD)
    for (int64_t l = 0; l < k; ++l, b += ldb) {
        [[maybe_unused]] V right0, right1, right2, right3;
        right0 = load<T, Bytes>(b);
        if constexpr (C > 1) right1 = load<T, Bytes>(b + lanes);
        if constexpr (C > 2) right2 = load<T, Bytes>(b + 2 * lanes);
        if constexpr (C > 3) right3 = load<T, Bytes>(b + 3 * lanes);
        TROPALIGN_ROWS(TROPALIGN_STEP_ROW)
    }
    TROPALIGN_CELLS(TROPALIGN_STORE)
}

#undef TROPALIGN_STEP_ROW
#undef TROPALIGN_STEP
#undef TROPALIGN_LOAD
#undef TROPALIGN_DECLARE

/// Integer type of the size of T.
template <class T>
using IndexOf = std::conditional_t<sizeof(T) == 8, int64_t, std::conditional_t<sizeof(T) == 4, int32_t, int16_t>>;

#define TROPALIGN_DECLARE(r, j)    \
    [[maybe_unused]] V c##r##j;    \
    [[maybe_unused]] VI k##r##j{}; \
    k##r##j -= 1;
#define TROPALIGN_LOAD(r, j) \
    if constexpr (R > r && C > j) c##r##j = load<T, Bytes>(c + r * ldc + j * lanes);
#define TROPALIGN_STEP(r, j)                                                             \
    if constexpr (R > r && C > j) {                                                      \
        const V sum = left + right##j;                                                   \
        k##r##j = (is_highest<order>() ? sum > c##r##j : sum < c##r##j) ? now : k##r##j; \
        c##r##j = better<order, T>(sum, c##r##j);                                        \
    }
#define TROPALIGN_STEP_ROW(r)                     \
    if constexpr (R > r) {                        \
        const V left = spread<V>(a[r * lda + l]); \
        TROPALIGN_CELLS_OF(TROPALIGN_STEP, r)     \
    }
#define TROPALIGN_STORE_BEST(r, j)                                                                   \
    if constexpr (R > r && C > j) {                                                                  \
        int32_t *of = best_k + r * ldbest + j * lanes;                                               \
        for (int lane = 0; lane < lanes; ++lane)                                                     \
            of[lane] = k##r##j[lane] < 0 ? of[lane] : first_k + static_cast<int32_t>(k##r##j[lane]); \
    }

/// Update a block of c, and set best_k = first_k + k where c improves; k is below 2^15.
template <class T, Order order, int Bytes, int R, int C>
void block_arg(const T *a, int64_t lda, const T *b, int64_t ldb, T *c, int64_t ldc, int32_t *best_k, int64_t ldbest,
               int32_t first_k, int64_t k) {
    using V = Vec<T, Bytes>;
    using VI = Vec<IndexOf<T>, Bytes>;
    constexpr int lanes = Bytes / static_cast<int>(sizeof(T));
    TROPALIGN_CELLS(TROPALIGN_DECLARE)
    TROPALIGN_CELLS(TROPALIGN_LOAD)
    VI now{};
    for (int64_t l = 0; l < k; ++l, b += ldb, now += 1) {
        [[maybe_unused]] V right0, right1, right2, right3;
        right0 = load<T, Bytes>(b);
        if constexpr (C > 1) right1 = load<T, Bytes>(b + lanes);
        if constexpr (C > 2) right2 = load<T, Bytes>(b + 2 * lanes);
        if constexpr (C > 3) right3 = load<T, Bytes>(b + 3 * lanes);
        TROPALIGN_ROWS(TROPALIGN_STEP_ROW)
    }
    TROPALIGN_CELLS(TROPALIGN_STORE)
    TROPALIGN_CELLS(TROPALIGN_STORE_BEST)
}

#undef TROPALIGN_STORE_BEST
#undef TROPALIGN_STORE
#undef TROPALIGN_STEP_ROW
#undef TROPALIGN_STEP
#undef TROPALIGN_LOAD
#undef TROPALIGN_DECLARE
#undef TROPALIGN_CELLS
#undef TROPALIGN_CELLS_OF
#undef TROPALIGN_ROWS

}  // namespace tropalign::TROPALIGN_ISA
