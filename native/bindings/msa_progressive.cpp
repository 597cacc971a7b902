// Bindings: progressive alignment; the arrays are documented in native/msa.
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "../msa/confidence.hpp"
#include "../msa/guide_tree.hpp"
#include "../msa/progressive.hpp"
#include "check.hpp"
#include "store_use.hpp"

using namespace nb::literals;

namespace tropalign {
namespace {

/// Maximum number of columns of an alignment that has fewer residues.
constexpr int32_t kMostAlignedColumns = 1 << 19;

/// Run work(watch) without the interpreter's lock, and rethrow an exception of the poll.
template <class Work>
void run_watched(const Progress &progress, Work work) {
    require_progress(progress);
    PythonPoll poll(progress);
    Watch watch;
    {
        nb::gil_scoped_release released;
        watch.run(std::ref(poll), [&] { work(watch); });
    }
    poll.rethrow();
}

/// Refuse anything other than `size` numbers from 0 to 10^6.
void require_weights(const Column<double> &values, size_t size, const char *name) {
    if (values.size() != size) refuse(std::string(name) + ": has a wrong length");
    const bool good = std::all_of(values.data(), values.data() + size, [](double w) { return w >= 0 && w <= 1e6; });
    if (!good) refuse(std::string(name) + ": a number outside of 0 to 1000000");
}

int32_t require_family(const PosteriorStore &store) {
    require(store.n_sequences() >= 1, "store: no sequences");
    return store.n_sequences();
}

/// Return the columns of all residues of the store, ascending in each sequence and below `most`.
ResidueColumns residue_columns(const PosteriorStore &store, const Column<int32_t> &columns, int64_t most) {
    ResidueColumns found(store);
    require(found.all().size() == columns.size(), "columns: must have a column per residue");
    require_below(columns.data(), columns.size(), most, "columns");
    std::copy_n(columns.data(), columns.size(), found.all().begin());
    for (int32_t x = 0; x < store.n_sequences(); ++x)
        for (int32_t r = 1; r < found.length(x); ++r)
            require(found.of(x)[r - 1] < found.of(x)[r], "columns: the columns of a sequence do not ascend");
    return found;
}

Tuple<Numpy<int32_t>, Numpy<double>> guide_tree(Column<float> distances, Progress progress) {
    const auto size = static_cast<int64_t>(distances.size());
    const auto n = static_cast<int64_t>(std::llround((1 + std::sqrt(1.0 + 8.0 * static_cast<double>(size))) / 2));
    require(n * (n - 1) / 2 == size, "distances: their number is not n (n - 1) / 2 for any n");
    require(n < INT32_MAX / 2, "distances: too many sequences for a tree");
    require(std::all_of(distances.data(), distances.data() + size, [](float d) { return d >= 0 && d <= 1e30f; }),
            "distances: a number is negative or NaN");
    GuideTree tree;
    run_watched(progress, [&](Watch &watch) { tree = upgma(distances.data(), static_cast<int32_t>(n), watch); });
    std::vector<int32_t> children;
    for (const Children &pair : tree.children) children.insert(children.end(), pair.begin(), pair.end());
    const std::array<size_t, 2> shape{static_cast<size_t>(n - 1), 2};
    return nb::make_tuple(to_numpy(std::move(children), shape), to_numpy(std::move(tree.branch_lengths)));
}

Numpy<double> leaf_weights(Array<int32_t, 2> children, Column<double> branch_lengths) {
    const auto n = static_cast<int64_t>(children.shape(0)) + 1;
    const Children *pairs = require_children(children, n);
    require(branch_lengths.size() == 2 * static_cast<size_t>(n) - 1, "branch_lengths: must have one per node");
    require(std::all_of(branch_lengths.data(), branch_lengths.data() + branch_lengths.size(),
                        [](double length) { return length >= 0 && length <= 1e60; }),
            "branch_lengths: a number outside of 0 to 1e60");
    return to_numpy(sequence_weights(pairs, branch_lengths.data(), static_cast<int32_t>(n)));
}

Numpy<int32_t> progressive_by_posteriors(const PosteriorStore &store, Array<int32_t, 2> children,
                                         Column<double> weights, int n_threads, Progress progress) {
    const int32_t n = require_family(store);
    const Children *pairs = require_children(children, n);
    require_weights(weights, static_cast<size_t>(n), "weights");
    require_threads(n_threads);
    const ReadsStore reads(store);
    std::optional<ResidueColumns> found;
    run_watched(progress,
                [&](Watch &watch) { found = align_progressively(store, pairs, weights.data(), n_threads, watch); });
    return to_numpy(std::move(found->all()));
}

RefineRules rules_of(const std::string &split, const std::string &accept, int64_t n_rounds, uint64_t seed) {
    RefineRules rules{Split::random, Accept::always, n_rounds, seed};
    if (split == "gap") rules.split = Split::gap;
    else require(split == "random", "split: must be random or gap");
    if (accept == "not_longer") rules.accept = Accept::not_longer;
    else require(accept == "always", "accept: must be always or not_longer");
    require(n_rounds >= 0, "n_rounds: below 0");
    return rules;
}

Numpy<int32_t> refined(const PosteriorStore &store, Column<int32_t> columns, Column<double> weights,
                       const std::string &split, const std::string &accept, int64_t n_rounds, uint64_t seed,
                       int n_threads, Progress progress) {
    const int32_t n = require_family(store);
    const RefineRules rules = rules_of(split, accept, n_rounds, seed);
    require_weights(weights, static_cast<size_t>(n), "weights");
    require_threads(n_threads);
    const ReadsStore reads(store);
    ResidueColumns found = residue_columns(store, columns, static_cast<int64_t>(columns.size()));
    run_watched(progress, [&](Watch &watch) { refine(store, found, weights.data(), rules, n_threads, watch); });
    return to_numpy(std::move(found.all()));
}

Tuple<Numpy<float>, Numpy<float>> confidence(const PosteriorStore &store, Column<int32_t> columns,
                                             Column<double> weights, int n_threads, Progress progress) {
    const int32_t n = require_family(store);
    require_weights(weights, static_cast<size_t>(n), "weights");
    require_threads(n_threads);
    const ReadsStore reads(store);
    const auto most = std::max<int64_t>(kMostAlignedColumns, static_cast<int64_t>(columns.size()));
    const ResidueColumns placed = residue_columns(store, columns, most);
    const auto last = std::max_element(placed.all().begin(), placed.all().end());
    const int32_t n_columns = last == placed.all().end() ? 0 : *last + 1;
    Confidence found;
    run_watched(progress, [&](Watch &watch) {
        found = alignment_confidence(store, placed, n_columns, weights.data(), n_threads, watch);
    });
    return nb::make_tuple(to_numpy(std::move(found.residues)), to_numpy(std::move(found.columns)));
}

}  // namespace
}  // namespace tropalign

void bind_msa_progressive(nb::module_ &m) {
    using namespace tropalign;
    m.def("guide_tree", &guide_tree, array("distances"), "progress"_a.none() = nb::none(),
          "Build a UPGMA tree; returns the two children of each inner node, and the branch length above each node.");
    m.def("sequence_weights", &leaf_weights, array("children"), array("branch_lengths"),
          "Compute weights of the leaves, with a sum of 1.");
    m.def("progressive", &progressive_by_posteriors, "store"_a, array("children"), array("weights"), "n_threads"_a,
          "progress"_a.none() = nb::none(), "Align along a tree; returns the column of every residue.");
    m.def("refine", &refined, "store"_a, array("columns"), array("weights"), "split"_a, "accept"_a, "n_rounds"_a,
          "seed"_a, "n_threads"_a, "progress"_a.none() = nb::none(),
          "Refine an alignment by rounds of realignment; returns the column of every residue. See "
          "native/msa/progressive.hpp.");
    m.def("confidence", &confidence, "store"_a, array("columns"), array("weights"), "n_threads"_a,
          "progress"_a.none() = nb::none(), "Compute the mean posteriors of every residue and every column.");
}
