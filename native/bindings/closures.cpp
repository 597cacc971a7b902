// Bindings: closures of matrices; the arrays are documented in native/tropical/closure.hpp.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <type_traits>

#include "../tropical/closure.hpp"
#include "semiring_numbers.hpp"

using namespace nb::literals;

namespace tropalign {
namespace {

/// Arrays that a call writes to.
using WritableIndex = nb::ndarray<int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using WritableNumbers = nb::ndarray<nb::ndim<2>, nb::c_contig, nb::device::cpu>;

/// Return the number of vertices of a square matrix, which must fit into int32.
template <class A>
int64_t require_square(const A &matrix, const char *name) {
    const auto n = static_cast<int64_t>(matrix.shape(0));
    if (static_cast<int64_t>(matrix.shape(1)) != n) refuse(std::string(name) + ": the matrix is not square");
    if (n > INT32_MAX) refuse(std::string(name) + ": more vertices than 2147483647");
    return n;
}

template <class A>
void require_sides(const A &matrix, int64_t n, const char *name) {
    if (static_cast<int64_t>(matrix.shape(0)) != n || static_cast<int64_t>(matrix.shape(1)) != n)
        refuse(std::string(name) + ": must be as large as the distances");
}

/// Refuse numbers that are neither -1 nor a vertex of the matrix.
void require_via(const Array<int32_t, 2> &via, int64_t n) {
    const int32_t *values = via.data();
    bool is_good = true;
    for (int64_t k = 0; k < n * n; ++k) is_good &= values[k] >= -1 && values[k] < n;
    require(is_good, "via: a number is outside of -1 to the last vertex");
}

/// Refuse distances whose sums could exceed the range of native code.
template <class T>
void require_bounded(const Survey<T> &range, int64_t n, Order order) {
    require(range.first_bad < 0, "values: a number is NaN, or an infinity of the wrong sign");
    if constexpr (std::is_integral_v<T>) {
        if (!range.any_finite) return;
        const double low = is_negated(order) ? -double(range.highest) : double(range.lowest);
        const double high = is_negated(order) ? -double(range.lowest) : double(range.highest);
        const double reach = low < 0 ? std::max(-low, high) * double(std::max<int64_t>(n - 1, 1)) : high;
        require(reach <= double(highest_distance<T>(low < 0)), "values: distances may exceed the range of native code");
    }
}

template <class T>
Tuple<int64_t, bool> closure_of(const ClosureJob<T> &job, const Progress &progress) {
    PythonPoll poll(progress);
    const int64_t size = job.n * job.n;
    int64_t vertex;
    bool any_infinite = false;
    {
        nb::gil_scoped_release released;
        require_bounded<T>(survey(job.order, job.values, size), job.n, job.order);
        vertex = close_matrix(job, std::ref(poll));
        if (vertex == -1) any_infinite = survey(job.order, job.values, size).any_worst;
    }
    poll.rethrow();
    return nb::make_tuple(vertex, any_infinite);
}

Tuple<int64_t, bool> closure(WritableNumbers values, std::optional<WritableIndex> via, bool is_max, int64_t n_left,
                             double tolerance, int n_threads, Progress progress) {
    const int64_t n = require_square(values, "values");
    if (via) require_sides(*via, n, "via");
    require(n_left >= 0 && (n_left == 0 || n_left < n), "n_left: outside of 0 to the number of vertices");
    require(tolerance >= 0, "tolerance: below 0");
    require_threads(n_threads);
    require_progress(progress);
    return with_type_of(values, "values", [&](auto zero) {
        using T = decltype(zero);
        auto *const numbers = static_cast<T *>(values.data());
        int32_t *const through = via ? via->data() : nullptr;
        return closure_of(ClosureJob<T>{numbers, through, n, n_left, order_of(is_max), tolerance, n_threads}, progress);
    });
}

bool path_predecessors(AnyArray<2> values, Array<int32_t, 2> via, bool is_max, WritableIndex predecessors,
                       int n_threads, Progress progress) {
    const int64_t n = require_square(values, "values");
    require_sides(via, n, "via");
    require_sides(predecessors, n, "predecessors");
    require(predecessors.data() != via.data() || n == 0, "predecessors: the same memory as via");
    require_threads(n_threads);
    require_progress(progress);
    require_via(via, n);
    PythonPoll poll(progress);
    bool stopped = false;
    const bool found = with_type_of(values, "values", [&](auto zero) {
        using T = decltype(zero);
        nb::gil_scoped_release released;
        return fill_predecessors(static_cast<const T *>(values.data()), via.data(), n, order_of(is_max),
                                 predecessors.data(), n_threads, std::ref(poll), stopped);
    });
    poll.rethrow();
    return found;
}

std::vector<int32_t> negative_cycle(Array<int32_t, 2> via, int64_t vertex) {
    const int64_t n = require_square(via, "via");
    require(vertex >= 0 && vertex < n, "vertex: not in the matrix");
    require_via(via, n);
    return cycle_through(via.data(), n, vertex);
}

void closure_bits(nb::ndarray<uint64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu> bits, int64_t n, int n_threads,
                  Progress progress) {
    const auto n_words = static_cast<int64_t>(bits.shape(1));
    require(n >= 0 && static_cast<int64_t>(bits.shape(0)) == n, "bits: must have a row per vertex");
    require(n_words % 8 == 0 && 64 * n_words >= n,
            "bits: rows must consist of whole blocks of 512 bits that hold all vertices");
    require_threads(n_threads);
    require_progress(progress);
    PythonPoll poll(progress);
    {
        nb::gil_scoped_release released;
        close_bits(bits.data(), n, n_words, n_threads, std::ref(poll));
    }
    poll.rethrow();
}

}  // namespace
}  // namespace tropalign

void bind_closures(nb::module_ &m) {
    using namespace tropalign;
    m.def("closure", &closure, array("values"), array("via").none(), "is_max"_a, "n_left"_a, "tolerance"_a,
          "n_threads"_a, "progress"_a = nb::none(),
          "Close a matrix of distances in place. Returns the vertex of a negative cycle or -1, and whether any "
          "distance is infinite.");
    m.def("path_predecessors", &path_predecessors, array("values"), array("via"), "is_max"_a, array("predecessors"),
          "n_threads"_a, "progress"_a = nb::none(),
          "Fill in the vertex before the last one of each path; returns False if rounding leaves none.");
    m.def("negative_cycle", &negative_cycle, array("via"), "vertex"_a,
          "Return the vertices of the cycle that closure found.");
    m.def("closure_bits", &closure_bits, array("bits"), "n"_a, "n_threads"_a, "progress"_a = nb::none(),
          "Compute the transitive closure of rows of bits in place.");
}
