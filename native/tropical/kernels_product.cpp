// The kernels of product.hpp: c[i,j] = best(c[i,j], a[i,k] + b[k,j]). A product is computed in panels of a few
// vectors of columns and some rows of b, which stay in the processor's nearest cache while all rows of c are
// processed:
//
//              b  | panel |
//                 |       | kDepth rows, copied to lie close together
//     a  kDepth   |       |
//     +---------+ +-------+
//     |         | |  c    |  six rows at a time (product_block.hpp)
//     |         | |       |
//
// The remainder at the right and lower edges is not a narrower block: the last block starts earlier and computes
// some numbers a second time, which changes none of them.
#include <algorithm>
#include <cstring>

#include "../compute/scratch.hpp"
#include "product.hpp"
#include "product_block.hpp"
#include "survey_lanes.hpp"

namespace tropalign::TROPALIGN_ISA {
namespace {

/// Rows and vectors of a block, without and with the best k: as many sums as registers allow, in addition to the
/// vectors of b, one of a and one for a + b.
constexpr int kRows = kVectorBytes == 64 ? 6 : 2, kRowsArg = kVectorBytes == 64 ? 4 : 2;
constexpr int kColumns = 4, kColumnsArg = 2;
/// Bytes of the narrowest vectors.
constexpr int kNarrowest = 16;

/// Rows of a panel, which takes 32 KiB with AVX-512 and 16 KiB with AVX2.
constexpr int64_t kDepth = 128;
/// Bytes of b up to which a copy gains nothing.
constexpr int64_t kFewBytes = 16384;

enum class Slot { panel, left_over, count };
thread_local Scratch<Slot> scratch;

template <class T>
struct Factor {
    const T *data;
    int64_t stride;
};

/// Destination of the sums, and of the best k if it is requested.
template <class T>
struct Result {
    T *c;
    int64_t stride;
    int32_t *best_k;
    int64_t best_stride;
    int32_t first_k;

    Result at(int64_t i, int64_t j) const {
        return {c + i * stride + j, stride, best_k ? best_k + i * best_stride + j : nullptr, best_stride, first_k};
    }
};

template <class T, Order order, bool IsArg, int Bytes, int C>
void rows_of_panel(Factor<T> a, Factor<T> b, Result<T> out, int64_t m, int64_t k) {
    int64_t i = 0;
    auto blocks = [&]<int R>(std::integral_constant<int, R>, int64_t until) {
        for (; i + R <= until; i += R) {
            const T *row = a.data + i * a.stride;
            const Result<T> to = out.at(i, 0);
            if constexpr (IsArg)
                block_arg<T, order, Bytes, R, C>(row, a.stride, b.data, b.stride, to.c, to.stride, to.best_k,
                                                 to.best_stride, to.first_k, k);
            else block<T, order, Bytes, R, C>(row, a.stride, b.data, b.stride, to.c, to.stride, k);
        }
    };
    constexpr int most = IsArg ? kRowsArg : kRows;
    if constexpr (most == 6) blocks(std::integral_constant<int, 6>{}, m % 6 == 2 && m > 6 ? m - 8 : m);
    if constexpr (most >= 4) blocks(std::integral_constant<int, 4>{}, m);
    blocks(std::integral_constant<int, 2>{}, m);
    blocks(std::integral_constant<int, 1>{}, m);
}

template <class T, Order order, bool IsArg, int Bytes>
void panel_rows(int n_vectors, Factor<T> a, Factor<T> b, Result<T> out, int64_t m, int64_t k) {
    if (n_vectors == 1) rows_of_panel<T, order, IsArg, Bytes, 1>(a, b, out, m, k);
    if (n_vectors == 2) rows_of_panel<T, order, IsArg, Bytes, 2>(a, b, out, m, k);
    if constexpr (Bytes == kVectorBytes && !IsArg) {
        if (n_vectors == 3) rows_of_panel<T, order, IsArg, Bytes, 3>(a, b, out, m, k);
        if (n_vectors == 4) rows_of_panel<T, order, IsArg, Bytes, 4>(a, b, out, m, k);
    }
}

/// Copy `depth` rows of `width` numbers.
template <class T>
Factor<T> panel_of(Factor<T> b, int64_t depth, int64_t width) {
    T *panel = static_cast<T *>(scratch.get(Slot::panel, static_cast<size_t>(kDepth) * kColumns * kVectorBytes));
    for (int64_t l = 0; l < depth; ++l)
        std::memcpy(panel + l * width, b.data + l * b.stride, static_cast<size_t>(width) * sizeof(T));
    return {panel, width};
}

/// Process all columns; n must be at least the number of lanes of a vector.
template <class T, Order order, bool IsArg, int Bytes>
void columns(Factor<T> a, Factor<T> b, Result<T> out, int64_t m, int64_t n, int64_t k) {
    constexpr int64_t lanes = Bytes / static_cast<int>(sizeof(T)), most = IsArg ? kColumnsArg : kColumns;
    const bool is_copied = m > 4 * kRows && k * b.stride * static_cast<int64_t>(sizeof(T)) > kFewBytes;
    for (int64_t j = 0; j < n;) {
        const int64_t left = n - j;
        auto n_vectors = static_cast<int>(std::min(most, (left + lanes - 1) / lanes));
        if (n < n_vectors * lanes)
            n_vectors = static_cast<int>(left / lanes);  // too few for the last vector to start earlier
        const int64_t width = n_vectors * lanes;
        if (left < width) j = n - width;
        for (int64_t l = 0; l < k; l += kDepth) {
            const int64_t depth = std::min(kDepth, k - l);
            Factor<T> panel{b.data + l * b.stride + j, b.stride};
            if (is_copied) panel = panel_of(panel, depth, width);
            Result<T> to = out.at(0, j);
            to.first_k += static_cast<int32_t>(l);
            panel_rows<T, order, IsArg, Bytes>(n_vectors, {a.data + l, a.stride}, panel, to, m, depth);
        }
        j += width;
    }
}

/// Process fewer columns than the narrowest vector has lanes: b, c and the best k are copied to buffers with room
/// for one.
template <class T, Order order, bool IsArg>
void few_columns(Factor<T> a, Factor<T> b, Result<T> out, int64_t m, int64_t n, int64_t k) {
    constexpr int64_t lanes = kNarrowest / static_cast<int>(sizeof(T));
    const auto n_numbers = static_cast<size_t>((m + k) * lanes);
    T *wide_b = static_cast<T *>(scratch.get(
        Slot::left_over, n_numbers * sizeof(T) + static_cast<size_t>(IsArg ? m * lanes : 0) * sizeof(int32_t)));
    T *wide_c = wide_b + k * lanes;
    int32_t *wide_k = IsArg ? reinterpret_cast<int32_t *>(wide_c + m * lanes) : nullptr;
    std::memset(wide_b, 0, n_numbers * sizeof(T));
    for (int64_t l = 0; l < k; ++l) std::copy_n(b.data + l * b.stride, n, wide_b + l * lanes);
    for (int64_t i = 0; i < m; ++i) {
        std::copy_n(out.at(i, 0).c, n, wide_c + i * lanes);
        if constexpr (IsArg) {
            std::fill_n(wide_k + i * lanes, lanes, 0);
            std::copy_n(out.at(i, 0).best_k, n, wide_k + i * lanes);
        }
    }
    columns<T, order, IsArg, kNarrowest>(a, {wide_b, lanes}, {wide_c, lanes, wide_k, lanes, out.first_k}, m, lanes, k);
    for (int64_t i = 0; i < m; ++i) {
        std::copy_n(wide_c + i * lanes, n, out.at(i, 0).c);
        if constexpr (IsArg) std::copy_n(wide_k + i * lanes, n, out.at(i, 0).best_k);
    }
}

/// Update with the widest vectors that fit into a row of c.
template <Order order, bool IsArg, class T, int Bytes = kVectorBytes>
void update_by(Factor<T> a, Factor<T> b, Result<T> out, int64_t m, int64_t n, int64_t k) {
    if (n * static_cast<int64_t>(sizeof(T)) >= Bytes) columns<T, order, IsArg, Bytes>(a, b, out, m, n, k);
    else if constexpr (Bytes > kNarrowest) update_by<order, IsArg, T, Bytes / 2>(a, b, out, m, n, k);
    else few_columns<T, order, IsArg>(a, b, out, m, n, k);
}

template <class T>
void update(Order order, const T *a, int64_t lda, const T *b, int64_t ldb, T *c, int64_t ldc, int64_t m, int64_t n,
            int64_t k) {
    const Factor<T> left{a, lda}, right{b, ldb};
    const Result<T> out{c, ldc, nullptr, 0, 0};
    with_order(order, [&]<Order o>() { update_by<o, false>(left, right, out, m, n, k); });
}

template <class T>
void update_arg(Order order, const T *a, int64_t lda, const T *b, int64_t ldb, T *c, int64_t ldc, int32_t *best_k,
                int64_t ldbest, int32_t first_k, int64_t m, int64_t n, int64_t k) {
    const Factor<T> left{a, lda}, right{b, ldb};
    const Result<T> out{c, ldc, best_k, ldbest, first_k};
    with_order(order, [&]<Order o>() { update_by<o, true>(left, right, out, m, n, k); });
}

template <class T>
constexpr ProductKernels<T> kKernels = {&update<T>, &update_arg<T>, &survey_numbers<T>};

}  // namespace

extern const ProductTables product_tables = {kKernels<float>, kKernels<double>, kKernels<int32_t>, kKernels<int16_t>};

}  // namespace tropalign::TROPALIGN_ISA
