// Bindings: closures of matrices. Python sees plain arrays; what they mean is said in native/tropical/closure.hpp.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <type_traits>

#include "../tropical/closure.hpp"
#include "check.hpp"

using namespace nb::literals;

namespace tropalign {
namespace {

template <class T, size_t n>
using Writable = nb::ndarray<T, nb::ndim<n>, nb::c_contig, nb::device::cpu>;

/// Vertices are numbered by int32.
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
        refuse(std::string(name) + ": not as large as the distances");
}

/// -1, or a vertex of the matrix that is no vertex of its own path.
void require_via(const Array<int32_t, 2> &via, int64_t n) {
    const int32_t *values = via.data();
    bool is_good = true;
    for (int64_t k = 0; k < n * n; ++k) is_good &= values[k] >= -1 && values[k] < n;
    require(is_good, "via: a number is outside of -1 to the last vertex");
}

/// Distances that no sum takes beyond what native code computes with.
template <class T>
void require_bounded(const Survey<T> &range, int64_t n, bool is_max) {
    require(range.first_bad < 0, "values: a number is NaN, or an infinity of the wrong sign");
    if constexpr (std::is_integral_v<T>) {
        if (!range.any_finite) return;
        const double low = is_max ? -double(range.highest) : double(range.lowest);
        const double high = is_max ? -double(range.lowest) : double(range.highest);
        const double reach = low < 0 ? std::max(-low, high) * double(std::max<int64_t>(n - 1, 1)) : high;
        require(reach <= double(highest_distance<T>(low < 0)),
                "values: distances may pass what native code computes with");
    }
}

template <class T>
nb::tuple closure(Writable<T, 2> values, std::optional<Writable<int32_t, 2>> via, bool is_max, int64_t n_left,
                  double tolerance, int n_threads, nb::object progress) {
    const int64_t n = require_square(values, "values");
    if (via) require_sides(*via, n, "via");
    require(n_left >= 0 && (n_left == 0 || n_left < n), "n_left: outside of 0 to the number of vertices");
    require(tolerance >= 0, "tolerance: below 0");
    require_threads(n_threads);
    require_progress(progress);
    PythonPoll poll(progress);
    int64_t vertex;
    bool any_infinite = false;
    {
        nb::gil_scoped_release released;
        require_bounded<T>(survey(is_max, values.data(), n * n), n, is_max);
        const ClosureJob<T> job{values.data(), via ? via->data() : nullptr, n, n_left, is_max, tolerance, n_threads};
        vertex = close_matrix(job, std::ref(poll));
        if (vertex == -1) any_infinite = survey(is_max, values.data(), n * n).any_worst;
    }
    poll.rethrow();
    return nb::make_tuple(vertex, any_infinite);
}

template <class T>
bool predecessors(Array<T, 2> values, Array<int32_t, 2> via, bool is_max, Writable<int32_t, 2> out, int n_threads,
                  nb::object progress) {
    const int64_t n = require_square(values, "values");
    require_sides(via, n, "via");
    require_sides(out, n, "predecessors");
    require(out.data() != via.data() || n == 0, "predecessors: the same memory as via");
    require_threads(n_threads);
    require_progress(progress);
    require_via(via, n);
    PythonPoll poll(progress);
    bool stopped = false, found;
    {
        nb::gil_scoped_release released;
        found = fill_predecessors(values.data(), via.data(), n, is_max, out.data(), n_threads, std::ref(poll), stopped);
    }
    poll.rethrow();
    return found;
}

std::vector<int32_t> negative_cycle(Array<int32_t, 2> via, int64_t vertex) {
    const int64_t n = require_square(via, "via");
    require(vertex >= 0 && vertex < n, "vertex: not in the matrix");
    require_via(via, n);
    return cycle_through(via.data(), n, vertex);
}

void closure_bits(Writable<uint64_t, 2> bits, int64_t n, int n_threads, nb::object progress) {
    const auto n_words = static_cast<int64_t>(bits.shape(1));
    require(n >= 0 && static_cast<int64_t>(bits.shape(0)) == n, "bits: not a row per vertex");
    require(n_words % 8 == 0 && 64 * n_words >= n, "bits: rows are not of whole blocks of 512 that hold all vertices");
    require_threads(n_threads);
    require_progress(progress);
    PythonPoll poll(progress);
    {
        nb::gil_scoped_release released;
        close_bits(bits.data(), n, n_words, n_threads, std::ref(poll));
    }
    poll.rethrow();
}

template <class T>
void bind_type(nb::module_ &m) {
    m.def("closure", &closure<T>, array("values"), array("via").none(), "is_max"_a, "n_left"_a, "tolerance"_a,
          "n_threads"_a, "progress"_a = nb::none(),
          "Closes a matrix of distances in place: the vertex of a negative cycle or -1, and whether any is infinite.");
    m.def("path_predecessors", &predecessors<T>, array("values"), array("via"), "is_max"_a, array("predecessors"),
          "n_threads"_a, "progress"_a = nb::none(),
          "Fills the vertices before the last of each path; False where roundings leave none.");
}

}  // namespace
}  // namespace tropalign

void bind_tropical_paths(nb::module_ &m) {
    using namespace tropalign;
    bind_type<float>(m);
    bind_type<double>(m);
    bind_type<int32_t>(m);
    bind_type<int16_t>(m);
    m.def("negative_cycle", &negative_cycle, array("via"), "vertex"_a, "The vertices of the cycle that closure found.");
    m.def("closure_bits", &closure_bits, array("bits"), "n"_a, "n_threads"_a, "progress"_a = nb::none(),
          "The transitive closure of rows of bits, in place.");
}
