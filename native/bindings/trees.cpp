// Bindings: trees from distances; names and validation live in tropalign.trees.
#include <cmath>

#include "../trees/joining.hpp"
#include "../trees/upgma.hpp"
#include "check.hpp"

using namespace nb::literals;

namespace tropalign {
namespace {

constexpr int32_t kMostTaxa = 1 << 20;

/// Of float or double.
using Reals = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
const T *checked_distances(const Reals &distances) {
    const T *values = static_cast<const T *>(distances.data());
    bool is_good = true;
    for (size_t k = 0; k < distances.size(); ++k) is_good &= values[k] >= 0 && values[k] <= T(1e30);
    require(is_good, "distances: one is no number from 0 to 1e30");
    return values;
}

/// Calls work with the distances of n taxa, n >= least, as what they are.
template <class Work>
void with_distances(const Reals &distances, int64_t n, int64_t least, Work work) {
    require(n >= least && n <= kMostTaxa, "n: fewer taxa than a tree has, or more than 1048576");
    require(static_cast<int64_t>(distances.size()) == n * (n - 1) / 2, "distances: not n (n - 1) / 2 of them");
    if (distances.dtype() == nb::dtype<float>()) work(checked_distances<float>(distances));
    else if (distances.dtype() == nb::dtype<double>()) work(checked_distances<double>(distances));
    else throw nb::type_error("distances: neither float32 nor float64");
}

nb::object pairs_of(std::vector<std::array<int32_t, 2>> children) {
    std::vector<int32_t> flat;
    flat.reserve(2 * children.size());
    for (const auto &[first, second] : children) {
        flat.push_back(first);
        flat.push_back(second);
    }
    return to_numpy(std::move(flat), std::array<size_t, 2>{children.size(), 2});
}

nb::tuple joining(Reals distances, int64_t n, bool is_clustalw, nb::object progress) {
    require_progress(progress);
    JoinedTree tree;
    PythonPoll poll(progress);
    with_distances(distances, n, 3, [&](const auto *values) {
        nb::gil_scoped_release released;
        tree = join_neighbours(values, static_cast<int32_t>(n), is_clustalw, std::ref(poll));
    });
    poll.rethrow();
    return nb::make_tuple(pairs_of(std::move(tree.children)), nb::make_tuple(tree.last[0], tree.last[1], tree.last[2]),
                          to_numpy(std::move(tree.lengths)));
}

nb::tuple averaging(Reals distances, int64_t n, nb::object progress) {
    require_progress(progress);
    AveragedTree tree;
    PythonPoll poll(progress);
    with_distances(distances, n, 2, [&](const auto *values) {
        nb::gil_scoped_release released;
        tree = join_averages(values, static_cast<int32_t>(n), std::ref(poll));
    });
    poll.rethrow();
    return nb::make_tuple(pairs_of(std::move(tree.children)), to_numpy(std::move(tree.distances)));
}

}  // namespace
}  // namespace tropalign

void bind_trees(nb::module_ &m) {
    using namespace tropalign;
    m.def("neighbour_joining", &joining, array("distances"), "n"_a, "is_clustalw"_a, "progress"_a.none() = nb::none(),
          "Children, the last three nodes and branch lengths; see native/trees/joining.hpp.");
    m.def("average_linkage", &averaging, array("distances"), "n"_a, "progress"_a.none() = nb::none(),
          "Children and their distances; see native/trees/upgma.hpp.");
}
