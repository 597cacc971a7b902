// Products of matrices over min-plus and max-plus: c[i,j] = best of c[i,j] and a[i,k] + b[k,j] for all k; the best
// is the lowest number (min-plus) or the highest (max-plus). Floats have an infinity. Integers wrap around, so
// theirs is bounded: kBoundedInfinity, such that any two numbers at most that far from 0 can be added without
// wrapping. Results at or beyond `limit` (Products) are then infinity.
//
//     int16, min-plus     -16384 ... lowest ... highest | limit ... 16383 ... 32766
//                                    finite numbers       infinity, and infinity plus a finite number
#pragma once
#include <cstdint>
#include <limits>

#include "../compute/poll.hpp"

namespace tropalign {

/// Selects the better of two numbers, a semiring's sum: the lowest for min-plus, the highest for max-plus. Code
/// that depends on it is a `switch` over all orders without a default, or calls is_highest: a new order does not
/// compile until it is handled everywhere.
enum class Order { lowest, highest };

/// Range and validity of the numbers of a matrix.
template <class T>
struct Survey {
    T lowest = std::numeric_limits<T>::max(), highest = std::numeric_limits<T>::lowest();  // finite numbers only
    bool any_finite = false, any_worst = false;
    int64_t first_bad = -1;  // first that is not in the semiring: NaN, or an infinity better than all numbers
};
/// The kernels for one type of numbers. Strides of rows are in numbers; c does not overlap a or b. Of equal sums
/// the one of the lowest k is kept, which distinguishes 0 from -0.
template <class T>
struct ProductKernels {
    /// c[i,j] = best of c[i,j] and a[i,k] + b[k,j], for m x n numbers c and all k below `k`.
    void (*update)(Order order, const T *a, int64_t lda, const T *b, int64_t ldb, T *c, int64_t ldc, int64_t m,
                   int64_t n, int64_t k);
    /// Update c, and set best_k[i,j] = first_k + k if c[i,j] improves.
    void (*update_arg)(Order order, const T *a, int64_t lda, const T *b, int64_t ldb, T *c, int64_t ldc,
                       int32_t *best_k, int64_t ldbest, int32_t first_k, int64_t m, int64_t n, int64_t k);
    void (*survey)(Order order, const T *numbers, int64_t count, Survey<T> *found);
};

/// The kernels of all types.
struct ProductTables {
    ProductKernels<float> of_float;
    ProductKernels<double> of_double;
    ProductKernels<int32_t> of_int32;
    ProductKernels<int16_t> of_int16;
};

/// Return the tables of the chosen instruction set.
const ProductTables *selected_product_tables();

template <class T>
const ProductKernels<T> &kernels_of(const ProductTables &tables) {
    if constexpr (std::is_same_v<T, float>) return tables.of_float;
    else if constexpr (std::is_same_v<T, double>) return tables.of_double;
    else if constexpr (std::is_same_v<T, int32_t>) return tables.of_int32;
    else return tables.of_int16;
}
template <class T>
const ProductKernels<T> &product_kernels() {
    return kernels_of<T>(*selected_product_tables());
}

/// Return the semiring's zero, the number that is worse than any other.
template <class T>
constexpr T worst_number(Order order) {
    using Limits = std::numeric_limits<T>;
    switch (order) {
        case Order::lowest:
            return Limits::has_infinity ? Limits::infinity() : Limits::max();
        case Order::highest:
            return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
    }
    __builtin_unreachable();
}

/// True for the order `highest`. For templates, in which compilers do not report a value missing from a `switch`:
/// a new order fails the assertion.
template <Order order>
constexpr bool is_highest() {
    static_assert(order == Order::lowest || order == Order::highest);
    return order == Order::highest;
}

/// True if a is better than b; for vectors, a mask of lanes.
template <Order order, class T>
[[gnu::always_inline]] constexpr auto is_better(T a, T b) {
    if constexpr (is_highest<order>()) return a > b;
    else return a < b;
}

/// True if distances are the negated numbers.
constexpr bool is_negated(Order order) {
    switch (order) {
        case Order::lowest:
            return false;
        case Order::highest:
            return true;
    }
    __builtin_unreachable();
}

/// Call work.operator()<order>().
template <class Work>
auto with_order(Order order, Work work) {
    switch (order) {
        case Order::lowest:
            return work.template operator()<Order::lowest>();
        case Order::highest:
            return work.template operator()<Order::highest>();
    }
    __builtin_unreachable();
}

/// Infinity inside the kernels.
template <class T>
constexpr T kBoundedInfinity = std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity()
                                                                    : static_cast<T>(std::numeric_limits<T>::max() / 2);

/// Return the bounded infinity with the sign of the semiring's zero.
template <class T>
constexpr T bounded_worst(Order order) {
    return is_negated(order) ? -kBoundedInfinity<T> : kBoundedInfinity<T>;
}

template <class T>
Survey<T> survey(Order order, const T *numbers, int64_t count);

/// Copy integers, with the semiring's zero replaced by its bounded infinity. `to` may be `from`.
template <class T>
void to_bounded(Order order, const T *from, T *to, int64_t count);
/// Replace numbers at the limit or beyond it by the semiring's zero: those not below it for min-plus, not above it
/// for max-plus.
template <class T>
void from_bounded(Order order, T limit, T *numbers, int64_t count);

/// c[p] = a[p] (.) b[p] for n_products consecutive matrices, c without gaps. A stride of 0 uses the same matrix
/// for all. best_k, if not null, gets the first of the best k, or -1 if c is the semiring's zero, which for
/// integers is any value at `limit` or beyond.
template <class T>
struct Products {
    Order order;
    const T *a, *b;
    int64_t a_stride, b_stride;
    T *c;
    int32_t *best_k;
    int64_t n_products, m, n, k;
    T limit;
};
/// Compute the products. False if `poll` stopped it.
template <class T>
bool multiply(const Products<T> &products, int n_threads, const Poll &poll);

// Products of truth values: c[i,j] is true if a[i,k] and b[k,j] are true for any k.

/// c[p] = a[p] and b[p] for n_products consecutive matrices; a stride of 0 uses the same one for all.
struct TruthProducts {
    const bool *a, *b;
    int64_t a_stride, b_stride;
    bool *c;
    int64_t n_products, m, n, k;
};

/// Compute the products. False if `poll` stopped it.
bool multiply_truths(const TruthProducts &products, int n_threads, const Poll &poll);

}  // namespace tropalign
