// Bindings: non-serial polyadic problems.
#include "../tropical/triangular.hpp"

#include <nanobind/stl/optional.h>

#include "semiring_numbers.hpp"

namespace tropalign {
namespace {

using namespace nb::literals;

using IntervalNumbers = nb::ndarray<nb::ndim<2>, nb::c_contig, nb::device::cpu>;

/// Parameters of a problem, in addition to the weights in `values`.
struct Problem {
    bool is_max, is_weighted;
    std::optional<AnyArray<1>> sizes;
    std::optional<AnyArray<2>> closing;
    std::optional<Column<uint8_t>> letters;
    int64_t least_distance;
};

template <class T>
Triangle<T> triangle_of(const IntervalNumbers &values, const Problem &problem) {
    Triangle<T> triangle{};
    triangle.order = order_of(problem.is_max), triangle.is_weighted = problem.is_weighted;
    triangle.size = static_cast<int64_t>(values.shape(0));
    triangle.values = static_cast<T *>(values.data());
    if (problem.sizes) {
        require(problem.sizes->shape(0) == values.shape(0) + 1, "sizes: must be one more than rows of values");
        require(std::is_same_v<T, double> && has_sizes(order_of(problem.is_max)),
                "sizes: only supported for float64 and lowest numbers");
        triangle.sizes = numbers_of<T>(*problem.sizes, "sizes");
    }
    if (problem.closing) {
        require(problem.closing->shape(1) == values.shape(0), "closing: must have as many columns as values");
        require(problem.letters && problem.letters->size() == values.shape(0),
                "letters: must have one per row of values");
        require_codes(problem.letters->data(), problem.letters->size(), static_cast<int>(problem.closing->shape(0)),
                      "letters");
        require(problem.least_distance >= 1 && problem.least_distance <= INT32_MAX,
                "least_distance: outside of 1 to 2147483647");
        triangle.closing = numbers_of<T>(*problem.closing, "closing");
        triangle.letters = problem.letters->data();
        triangle.least_distance = problem.least_distance;
    }
    return triangle;
}

void fill_triangle(IntervalNumbers values, bool is_max, bool is_weighted, std::optional<AnyArray<1>> sizes,
                   std::optional<AnyArray<2>> closing, std::optional<Column<uint8_t>> letters, int64_t least_distance,
                   int n_threads, Progress progress) {
    require_threads(n_threads);
    require_progress(progress);
    require(values.shape(0) == values.shape(1) && values.shape(0) % kTriangleTile == 0,
            "values: must be square, with a multiple of 64 rows");
    const Problem problem{is_max, is_weighted, sizes, closing, letters, least_distance};
    PythonPoll poll(progress);
    with_type_of(values, "values", [&]<class T>(T) {
        const Triangle<T> triangle = triangle_of<T>(values, problem);
        nb::gil_scoped_release released;
        fill(triangle, n_threads, [&](int64_t done) { return poll(done); });
    });
    poll.rethrow();
}

}  // namespace
}  // namespace tropalign

void bind_triangular(nb::module_ &m) {
    using namespace tropalign;
    m.def("fill_triangle", &fill_triangle, array("values"), "is_max"_a, "is_weighted"_a, array("sizes").none(),
          array("closing").none(), array("letters").none(), "least_distance"_a, "n_threads"_a,
          "progress"_a = nb::none(),
          "Write the numbers of all intervals above the diagonal of `values`. The diagonal has those of single "
          "elements; if `is_weighted`, the others are initially the weights of intervals.");
}
