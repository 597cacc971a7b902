// The kernels of product.hpp.
#include "../simd/real.hpp"
#include "product.hpp"

namespace tropalign::TROPALIGN_ISA {
namespace {

template <bool IsMax, class T>
[[gnu::always_inline]] inline bool is_better(T x, T than) {
    return IsMax ? x > than : x < than;
}

template <bool IsMax, class T>
void rows(const T *a, int64_t lda, const T *b, int64_t ldb, T *c, int64_t ldc, int64_t m, int64_t n, int64_t k) {
    for (int64_t i = 0; i < m; ++i)
        for (int64_t l = 0; l < k; ++l) {
            const T left = a[i * lda + l];
            const T *right = b + l * ldb;
            T *best = c + i * ldc;
            for (int64_t j = 0; j < n; ++j) {
                const T sum = static_cast<T>(left + right[j]);
                best[j] = is_better<IsMax>(sum, best[j]) ? sum : best[j];
            }
        }
}

template <class T>
void update(bool is_max, const T *a, int64_t lda, const T *b, int64_t ldb, T *c, int64_t ldc, int64_t m, int64_t n,
            int64_t k) {
    if (is_max) rows<true>(a, lda, b, ldb, c, ldc, m, n, k);
    else rows<false>(a, lda, b, ldb, c, ldc, m, n, k);
}

template <bool IsMax, class T>
void rows_arg(const T *a, int64_t lda, const T *b, int64_t ldb, T *c, int64_t ldc, int32_t *best_k, int64_t ldbest,
              int32_t first_k, int64_t m, int64_t n, int64_t k) {
    for (int64_t i = 0; i < m; ++i)
        for (int64_t l = 0; l < k; ++l) {
            const T left = a[i * lda + l];
            const T *right = b + l * ldb;
            T *best = c + i * ldc;
            int32_t *of = best_k + i * ldbest;
            for (int64_t j = 0; j < n; ++j) {
                const T sum = static_cast<T>(left + right[j]);
                of[j] = is_better<IsMax>(sum, best[j]) ? first_k + static_cast<int32_t>(l) : of[j];
                best[j] = is_better<IsMax>(sum, best[j]) ? sum : best[j];
            }
        }
}

template <class T>
void update_arg(bool is_max, const T *a, int64_t lda, const T *b, int64_t ldb, T *c, int64_t ldc, int32_t *best_k,
                int64_t ldbest, int32_t first_k, int64_t m, int64_t n, int64_t k) {
    if (is_max) rows_arg<true>(a, lda, b, ldb, c, ldc, best_k, ldbest, first_k, m, n, k);
    else rows_arg<false>(a, lda, b, ldb, c, ldc, best_k, ldbest, first_k, m, n, k);
}

template <class T>
constexpr ProductKernels<T> kernels_of = {&update<T>, &update_arg<T>};

}  // namespace

extern const ProductTables product_tables = {kernels_of<float>, kernels_of<double>, kernels_of<int32_t>,
                                             kernels_of<int16_t>};

}  // namespace tropalign::TROPALIGN_ISA
