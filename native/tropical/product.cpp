#include "product.hpp"

#include <algorithm>

#include "../compute/parallel.hpp"
#include "../simd/dispatch.hpp"

namespace tropalign {

TROPALIGN_DISPATCH(ProductTables, product_tables)

template <class T>
Survey<T> survey(Order order, const T *numbers, int64_t count) {
    Survey<T> found;
    product_kernels<T>().survey(order, numbers, count, &found);
    return found;
}

template <class T>
void to_bounded(Order order, const T *from, T *to, int64_t count) {
    const T worst = worst_number<T>(order), bounded = bounded_worst<T>(order);
    for (int64_t k = 0; k < count; ++k) to[k] = from[k] == worst ? bounded : from[k];
}

template <class T>
void from_bounded(Order order, T limit, T *numbers, int64_t count) {
    with_order(order, [&]<Order o>() {
        for (int64_t k = 0; k < count; ++k)
            numbers[k] = is_better<o>(numbers[k], limit) ? numbers[k] : worst_number<T>(o);
    });
}

namespace {

/// Rows and columns of a work item: B is packed once per item, which is little work compared with the rows, and an
/// item ends soon enough to be interrupted.
constexpr int64_t kItemRows = 480, kItemColumns = 4096;

/// Number of sums that take less time than the start of a thread.
constexpr double kLittleWork = 2e6;

/// Return the rows of an item: fewer if there are less than two items per thread, so that no thread waits long for
/// another.
int64_t rows_of_item(int64_t m, int64_t n_others, int n_threads) {
    const int64_t wanted = n_threads == 1 ? 1 : std::max<int64_t>(1, 2 * n_threads / n_others);
    const int64_t rows = (m + wanted - 1) / wanted;
    return std::clamp<int64_t>((rows + 23) / 24 * 24, 24, kItemRows);
}

template <class T>
void multiply_item(const Products<T> &p, const ProductKernels<T> &kernels, int64_t product, int64_t i, int64_t m,
                   int64_t j, int64_t n) {
    const T *a = p.a + product * p.a_stride + i * p.k, *b = p.b + product * p.b_stride + j;
    const int64_t at = (product * p.m + i) * p.n + j;
    T *c = p.c + at;
    int32_t *best_k = p.best_k ? p.best_k + at : nullptr;
    for (int64_t row = 0; row < m; ++row) std::fill_n(c + row * p.n, n, worst_number<T>(p.order));
    if (!best_k) {
        kernels.update(p.order, a, p.k, b, p.n, c, p.n, m, n, p.k);
    } else {
        for (int64_t row = 0; row < m; ++row) std::fill_n(best_k + row * p.n, n, -1);
        kernels.update_arg(p.order, a, p.k, b, p.n, c, p.n, best_k, p.n, 0, m, n, p.k);
    }
    for (int64_t row = 0; row < m; ++row) {
        T *numbers = c + row * p.n;
        if constexpr (!std::numeric_limits<T>::has_infinity) from_bounded(p.order, p.limit, numbers, n);
        if (best_k)
            for (int64_t l = 0; l < n; ++l)
                if (numbers[l] == worst_number<T>(p.order)) best_k[row * p.n + l] = -1;
    }
}

}  // namespace

template <class T>
bool multiply(const Products<T> &p, int n_threads, const Poll &poll) {
    if (p.m == 0 || p.n == 0 || p.n_products == 0) return true;
    const ProductKernels<T> &kernels = product_kernels<T>();  // looked up once: it takes as long as a small product
    if (static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k) *
            static_cast<double>(p.n_products) <
        kLittleWork) {
        for (int64_t product = 0; product < p.n_products; ++product) multiply_item(p, kernels, product, 0, p.m, 0, p.n);
        return true;
    }
    const int64_t n_strips = (p.n + kItemColumns - 1) / kItemColumns;
    const int64_t item_rows = rows_of_item(p.m, p.n_products * n_strips, n_threads);
    const int64_t n_blocks = (p.m + item_rows - 1) / item_rows;
    const int64_t per_product = n_blocks * n_strips, work = std::max<int64_t>(1, p.m * p.n * p.k);
    const int64_t at_once = std::max<int64_t>(1, (int64_t{1} << 20) / work);
    return parallel(
        n_threads, p.n_products * per_product, at_once,
        [&](int, int64_t item) {
            const int64_t i = item % per_product / n_strips * item_rows, j = item % n_strips * kItemColumns;
            multiply_item(p, kernels, item / per_product, i, std::min(item_rows, p.m - i), j,
                          std::min(kItemColumns, p.n - j));
        },
        poll);
}

#define TROPALIGN_PRODUCT(T)                                  \
    template Survey<T> survey(Order, const T *, int64_t);     \
    template void to_bounded(Order, const T *, T *, int64_t); \
    template void from_bounded(Order, T, T *, int64_t);       \
    template bool multiply(const Products<T> &, int, const Poll &);
TROPALIGN_PRODUCT(float)
TROPALIGN_PRODUCT(double)
TROPALIGN_PRODUCT(int32_t)
TROPALIGN_PRODUCT(int16_t)
#undef TROPALIGN_PRODUCT

}  // namespace tropalign
