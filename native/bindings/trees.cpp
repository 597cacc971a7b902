// Bindings: trees from distances; names and validation are in tropalign.trees.
#include <nanobind/stl/string.h>

#include <cmath>
#include <string>
#include <type_traits>

#include "../compute/buffer.hpp"
#include "../trees/aligned_distances.hpp"
#include "../trees/bootstrap.hpp"
#include "../trees/joining.hpp"
#include "../trees/upgma.hpp"
#include "check.hpp"

using namespace nb::literals;

namespace tropalign {
namespace {

constexpr int32_t kMostTaxa = 1 << 20;

/// Numbers of float or double, read-only or overwritten by the work.
using Reals = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using WrittenReals = nb::ndarray<nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T, class Distances>
auto *checked_distances(const Distances &distances) {
    auto *values = static_cast<std::conditional_t<std::is_same_v<Distances, Reals>, const T, T> *>(distances.data());
    bool is_good = true;
    for (size_t k = 0; k < distances.size(); ++k) is_good &= values[k] >= 0 && values[k] <= T(1e30);
    require(is_good, "distances: a number is not from 0 to 1e30");
    return values;
}

/// Call work with the distances of n taxa, n >= least, in their own type.
template <class Distances, class Work>
void with_distances(const Distances &distances, int64_t n, int64_t least, Work work) {
    require(n >= least && n <= kMostTaxa, "n: fewer taxa than a tree has, or more than 1048576");
    require(static_cast<int64_t>(distances.size()) == n * (n - 1) / 2, "distances: must be n (n - 1) / 2 numbers");
    if (distances.dtype() == nb::dtype<float>()) work(checked_distances<float>(distances));
    else if (distances.dtype() == nb::dtype<double>()) work(checked_distances<double>(distances));
    else throw nb::type_error("distances: must be float32 or float64");
}

Numpy<int32_t> pairs_of(std::vector<std::array<int32_t, 2>> children) {
    std::vector<int32_t> flat;
    flat.reserve(2 * children.size());
    for (const auto &[first, second] : children) {
        flat.push_back(first);
        flat.push_back(second);
    }
    return to_numpy(std::move(flat), std::array<size_t, 2>{children.size(), 2});
}

Tuple<Numpy<int32_t>, Tuple<int32_t, int32_t, int32_t>, Numpy<double>> joining(WrittenReals distances, int64_t n,
                                                                               bool is_clustalw, Progress progress) {
    require_progress(progress);
    JoinedTree tree;
    PythonPoll poll(progress);
    with_distances(distances, n, 3, [&](auto *values) {
        nb::gil_scoped_release released;
        tree = join_neighbours(values, static_cast<int32_t>(n), is_clustalw, std::ref(poll));
    });
    poll.rethrow();
    return nb::make_tuple(pairs_of(std::move(tree.children)), nb::make_tuple(tree.last[0], tree.last[1], tree.last[2]),
                          to_numpy(std::move(tree.lengths)));
}

Linkage linkage_named(const std::string &name) {
    if (name == "average") return Linkage::average;
    if (name == "complete") return Linkage::complete;
    require(name == "weighted", "linkage: none of average, complete, weighted");
    return Linkage::weighted;
}

Tuple<Numpy<int32_t>, Numpy<double>> averaging(Reals distances, int64_t n, Progress progress,
                                               const std::string &linkage) {
    require_progress(progress);
    const Linkage chosen = linkage_named(linkage);
    AveragedTree tree;
    PythonPoll poll(progress);
    with_distances(distances, n, 2, [&](const auto *values) {
        nb::gil_scoped_release released;
        tree = join_clusters(values, static_cast<int32_t>(n), chosen, std::ref(poll));
    });
    poll.rethrow();
    return nb::make_tuple(pairs_of(std::move(tree.children)), to_numpy(std::move(tree.distances)));
}

constexpr int64_t kMostCodedColumns = 1 << 30;

CodedRows coded_rows(const Array<uint8_t, 2> &codes) {
    const auto n = static_cast<int64_t>(codes.shape(0)), n_columns = static_cast<int64_t>(codes.shape(1));
    require(n >= 2 && n <= kMostTaxa, "codes: fewer rows than a tree has, or more than 1048576");
    require(n_columns >= 1 && n_columns <= kMostCodedColumns, "codes: no columns, or more than 2^30");
    bool is_good = true;
    for (size_t k = 0; k < codes.size(); ++k) is_good &= codes.data()[k] < 64 || codes.data()[k] == kNotCompared;
    require(is_good, "codes: a code is neither below 64 nor 128");
    return CodedRows::copied(codes.data(), n, n_columns);
}

DistanceModel model_named(const std::string &name) {
    if (name == "identity") return DistanceModel::identity;
    if (name == "kimura") return DistanceModel::kimura;
    if (name == "jc69") return DistanceModel::jc69;
    require(name == "k2p", "model: must be identity, kimura, jc69 or k2p");
    return DistanceModel::k2p;
}

Numpy<double> distances_of_rows(Array<uint8_t, 2> codes, const std::string &model, int n_threads, Progress progress) {
    require_threads(n_threads);
    require_progress(progress);
    const DistanceModel chosen = model_named(model);
    const CodedRows rows = coded_rows(codes);
    Buffer<double> distances(rows.n_rows() * (rows.n_rows() - 1) / 2);
    PythonPoll poll(progress);
    {
        nb::gil_scoped_release released;
        aligned_distances(rows, chosen, n_threads, distances.data(), std::ref(poll));
    }
    poll.rethrow();
    return to_numpy(std::move(distances));
}

Numpy<double> distances_of_counts(Array<int32_t, 1> compared, Array<int32_t, 1> equal, const std::string &model) {
    const DistanceModel chosen = model_named(model);
    require(chosen != DistanceModel::k2p, "model: k2p requires transitions");
    require(compared.size() == equal.size(), "compared, equal: unequal lengths");
    bool is_good = true;
    for (size_t k = 0; k < equal.size(); ++k) is_good &= equal(k) >= 0 && equal(k) <= compared(k);
    require(is_good, "equal: a number is outside of 0 to the number compared");
    std::vector<double> distances(equal.size());
    for (size_t k = 0; k < equal.size(); ++k) distances[k] = distance_of({compared(k), equal(k), 0}, chosen);
    return to_numpy(std::move(distances));
}

void require_parents(const Array<int32_t, 1> &parents, int64_t n_leaves) {
    const auto n_nodes = static_cast<int64_t>(parents.size());
    require(n_nodes > n_leaves && n_nodes < 2 * n_leaves, "parents: must have one per node of a tree of the rows");
    bool is_good = parents(n_nodes - 1) == -1;
    for (int64_t k = 0; k < n_nodes - 1; ++k)
        is_good &= parents(k) > k && parents(k) >= n_leaves && parents(k) < n_nodes;
    require(is_good, "parents: a node is not below its parent, or the last one is not -1");
}

/// Return whether a method is neighbour joining, and otherwise its linkage.
std::pair<bool, Linkage> method_named(const std::string &name) {
    if (name == "nj") return {true, Linkage::average};
    if (name == "upgma") return {false, Linkage::average};
    require(name == "wpgma", "method: none of nj, upgma, wpgma");
    return {false, Linkage::weighted};
}

Numpy<int32_t> bootstrap_counts_of(Array<uint8_t, 2> codes, const std::string &model, const std::string &method,
                                   Array<int32_t, 1> parents, int64_t n_samples, uint64_t seed, double greatest,
                                   int n_threads, Progress progress, int64_t first_sample) {
    require_threads(n_threads);
    require_progress(progress);
    const auto [is_joining, linkage] = method_named(method);
    Bootstrap bootstrap{static_cast<int64_t>(codes.shape(1)),
                        model_named(model),
                        is_joining,
                        linkage,
                        first_sample,
                        n_samples,
                        seed,
                        greatest};
    require(codes.shape(0) >= 3, "codes: fewer than three rows");
    const CodedRows rows = coded_rows(codes);
    require_parents(parents, rows.n_rows());
    require(n_samples >= 1 && n_samples <= INT32_MAX, "n_samples: below 1, or above 2147483647");
    require(first_sample >= 0 && first_sample <= INT32_MAX, "first_sample: below 0, or above 2147483647");
    require(greatest >= 0 && greatest <= 1e30, "greatest: must be from 0 to 1e30");
    std::vector<int32_t> counts;
    PythonPoll poll(progress);
    {
        nb::gil_scoped_release released;
        counts = bootstrap_counts(rows, parents.data(), static_cast<int64_t>(parents.size()), bootstrap, n_threads,
                                  std::ref(poll));
    }
    poll.rethrow();
    return to_numpy(std::move(counts));
}

Tuple<Numpy<uint64_t>, Numpy<uint64_t>> bootstrap_splits_of(Array<uint8_t, 2> codes, const std::string &model,
                                                            const std::string &method, Array<int32_t, 1> parents,
                                                            int64_t n_samples, uint64_t seed, double greatest,
                                                            int n_threads, Progress progress, int64_t first_sample) {
    require_threads(n_threads);
    require_progress(progress);
    const auto [is_joining, linkage] = method_named(method);
    Bootstrap bootstrap{static_cast<int64_t>(codes.shape(1)),
                        model_named(model),
                        is_joining,
                        linkage,
                        first_sample,
                        n_samples,
                        seed,
                        greatest};
    require(codes.shape(0) >= 4, "codes: fewer than four rows");
    const CodedRows rows = coded_rows(codes);
    require_parents(parents, rows.n_rows());
    require(n_samples >= 1 && n_samples <= 100'000, "n_samples: below 1, or above 100000");
    require(first_sample >= 0 && first_sample <= INT32_MAX, "first_sample: below 0, or above 2147483647");
    require(greatest >= 0 && greatest <= 1e30, "greatest: must be from 0 to 1e30");
    const size_t per_sample = splits_per_sample(rows.n_rows(), is_joining);
    std::vector<uint64_t> wanted, found;
    PythonPoll poll(progress);
    {
        nb::gil_scoped_release released;
        wanted = tree_splits(parents.data(), static_cast<int64_t>(parents.size()), rows.n_rows(), is_joining);
        found = bootstrap_splits(rows, bootstrap, n_threads, std::ref(poll));
    }
    poll.rethrow();
    return nb::make_tuple(
        to_numpy(std::move(wanted)),
        to_numpy(std::move(found), std::array<size_t, 2>{static_cast<size_t>(n_samples), per_sample}));
}

}  // namespace
}  // namespace tropalign

void bind_trees(nb::module_ &m) {
    using namespace tropalign;
    m.def("neighbour_joining", &joining, array("distances"), "n"_a, "is_clustalw"_a, "progress"_a.none() = nb::none(),
          "Join neighbours; overwrites the distances. Returns children, the last three nodes and branch lengths. See "
          "native/trees/joining.hpp.");
    m.def("average_linkage", &averaging, array("distances"), "n"_a, "progress"_a.none() = nb::none(),
          "linkage"_a = "average",
          "Cluster by average, complete or weighted linkage; returns children and their distances. See "
          "native/trees/upgma.hpp.");
    m.def("aligned_distances", &distances_of_rows, array("codes"), "model"_a, "n_threads"_a,
          "progress"_a.none() = nb::none(),
          "Compute distances of an alignment's rows; see native/trees/aligned_distances.hpp.");
    m.def("counted_distances", &distances_of_counts, array("compared"), array("equal"), "model"_a,
          "Convert counts to distances; see distance_of in native/trees/aligned_distances.hpp.");
    m.def("bootstrap_counts", &bootstrap_counts_of, array("codes"), "model"_a, "method"_a, array("parents"),
          "n_samples"_a, "seed"_a, "greatest"_a, "n_threads"_a, "progress"_a.none() = nb::none(), "first_sample"_a = 0,
          "Count the samples that have the split above each node; see native/trees/bootstrap.hpp.");
    m.def("bootstrap_splits", &bootstrap_splits_of, array("codes"), "model"_a, "method"_a, array("parents"),
          "n_samples"_a, "seed"_a, "greatest"_a, "n_threads"_a, "progress"_a.none() = nb::none(), "first_sample"_a = 0,
          "Return the numbers of the splits of a tree, and of each sample's tree; see native/trees/bootstrap.hpp.");
}
