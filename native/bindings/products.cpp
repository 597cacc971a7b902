// Bindings: products of matrices over semirings.
#include "../compute/buffer.hpp"
#include "../tropical/product.hpp"
#include "semiring_numbers.hpp"

namespace tropalign {
namespace {

using namespace nb::literals;

Tuple<double, double, bool, bool, int64_t> survey_numbers(AnyArray<1> numbers, bool is_max) {
    return with_type_of(numbers, "numbers", [&]<class T>(T) {
        const T *data = numbers_of<T>(numbers, "numbers");
        const Survey<T> found = [&] {
            nb::gil_scoped_release released;
            return survey(order_of(is_max), data, static_cast<int64_t>(numbers.size()));
        }();
        return nb::make_tuple(found.lowest, found.highest, found.any_finite, found.any_worst, found.first_bad);
    });
}

AnyNumpy bounded_numbers(AnyArray<3> numbers, bool is_max) {
    const std::array<size_t, 3> shape{numbers.shape(0), numbers.shape(1), numbers.shape(2)};
    return with_type_of(numbers, "numbers", [&]<class T>(T) -> AnyNumpy {
        const T *data = numbers_of<T>(numbers, "numbers");
        Buffer<T> bounded(numbers.size());
        {
            nb::gil_scoped_release released;
            to_bounded(order_of(is_max), data, bounded.data(), static_cast<int64_t>(numbers.size()));
        }
        return to_numpy(std::move(bounded), shape);
    });
}

/// Check that sizes match, that rows and columns fit into 32 bits, and that the result is not too large for
/// memory.
template <class Matrices>
void require_factors(const Matrices &a, const Matrices &b) {
    require(a.shape(2) == b.shape(1), "a, b: a must have as many columns as b has rows");
    require(a.shape(0) == b.shape(0) || a.shape(0) == 1 || b.shape(0) == 1, "a, b: unequal numbers of matrices");
    for (size_t axis = 1; axis < 3; ++axis)
        require(a.shape(axis) <= INT32_MAX && b.shape(axis) <= INT32_MAX, "a, b: more than 2147483647 rows or columns");
    const auto numbers = static_cast<double>(std::max(a.shape(0), b.shape(0))) * static_cast<double>(a.shape(1)) *
                         static_cast<double>(b.shape(2));
    require(numbers < 0x1p58, "a, b: the product is too large for any memory");
}

template <class Matrices>
int64_t stride_of(const Matrices &matrices) {
    return matrices.shape(0) == 1 ? 0 : static_cast<int64_t>(matrices.shape(1) * matrices.shape(2));
}

template <class T>
Tuple<AnyNumpy, std::optional<Numpy<int32_t>>> product_of(const AnyArray<3> &a, const AnyArray<3> &b, bool is_max,
                                                          bool argbest, double limit, int n_threads,
                                                          Progress progress) {
    const std::array<size_t, 3> shape{a.shape(0) == 1 ? b.shape(0) : a.shape(0), a.shape(1), b.shape(2)};
    Buffer<T> c(shape[0] * shape[1] * shape[2]);
    Buffer<int32_t> best_k(argbest ? c.size() : 0);
    Products<T> products;
    products.order = order_of(is_max);
    products.a = numbers_of<T>(a, "a"), products.b = numbers_of<T>(b, "b"), products.c = c.data();
    products.a_stride = stride_of(a), products.b_stride = stride_of(b);
    products.best_k = argbest ? best_k.data() : nullptr;
    products.n_products = static_cast<int64_t>(shape[0]), products.m = static_cast<int64_t>(shape[1]);
    products.n = static_cast<int64_t>(shape[2]), products.k = static_cast<int64_t>(a.shape(2));
    products.limit = static_cast<T>(limit);
    PythonPoll poll(progress);
    {
        nb::gil_scoped_release released;
        multiply(products, n_threads, [&](int64_t done) { return poll(done); });
    }
    poll.rethrow();
    return nb::make_tuple(to_numpy(std::move(c), shape),
                          argbest ? nb::object(to_numpy(std::move(best_k), shape)) : nb::object(nb::none()));
}

Tuple<AnyNumpy, std::optional<Numpy<int32_t>>> tropical_product(AnyArray<3> a, AnyArray<3> b, bool is_max, bool argbest,
                                                                double limit, int n_threads, Progress progress) {
    require_threads(n_threads);
    require_progress(progress);
    require_factors(a, b);
    return with_type_of(a, "a", [&]<class T>(T) {
        if constexpr (!std::numeric_limits<T>::has_infinity)
            require(limit >= std::numeric_limits<T>::lowest() && limit <= std::numeric_limits<T>::max(),
                    "limit: not within the type of the numbers");
        return product_of<T>(a, b, is_max, argbest, limit, n_threads, progress);
    });
}

Numpy<bool> truth_product(Array<bool, 3> a, Array<bool, 3> b, int n_threads, Progress progress) {
    require_threads(n_threads);
    require_progress(progress);
    require_factors(a, b);
    const std::array<size_t, 3> shape{a.shape(0) == 1 ? b.shape(0) : a.shape(0), a.shape(1), b.shape(2)};
    Buffer<bool> c(shape[0] * shape[1] * shape[2]);
    TruthProducts products{};
    products.a = a.data(), products.b = b.data(), products.c = c.data();
    products.a_stride = stride_of(a), products.b_stride = stride_of(b);
    products.n_products = static_cast<int64_t>(shape[0]), products.m = static_cast<int64_t>(shape[1]);
    products.n = static_cast<int64_t>(shape[2]), products.k = static_cast<int64_t>(a.shape(2));
    PythonPoll poll(progress);
    {
        nb::gil_scoped_release released;
        multiply_truths(products, n_threads, [&](int64_t done) { return poll(done); });
    }
    poll.rethrow();
    return to_numpy(std::move(c), shape);
}

}  // namespace
}  // namespace tropalign

void bind_products(nb::module_ &m) {
    using namespace tropalign;
    m.def("survey_numbers", &survey_numbers, array("numbers"), "is_max"_a,
          "Return the lowest and the highest finite number, whether there is any, whether the semiring's zero occurs, "
          "and the index of the first number that is not in the semiring, or -1.");
    m.def("bounded_numbers", &bounded_numbers, array("numbers"), "is_max"_a,
          "Return integers with the semiring's zero replaced by half of the type's highest number.");
    m.def("tropical_product", &tropical_product, array("a"), array("b"), "is_max"_a, "argbest"_a, "limit"_a,
          "n_threads"_a, "progress"_a = nb::none(),
          "Multiply (p, m, k) and (p, k, n), each p 1 or the same; with `argbest` also return the first of the best k. "
          "Integers are bounded; those at `limit` or beyond become the semiring's zero.");
    m.def("truth_product", &truth_product, array("a"), array("b"), "n_threads"_a, "progress"_a = nb::none(),
          "Multiply truth values (p, m, k) and (p, k, n), each p 1 or the same: true if any k is true in both.");
}
