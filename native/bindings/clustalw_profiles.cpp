// Bindings: alignment of profiles by CLUSTALW's rules.
#include <nanobind/stl/optional.h>

#include <cmath>
#include <optional>
#include <stdexcept>

#include "../clustalw/progressive.hpp"
#include "check.hpp"

using namespace nb::literals;

namespace tropalign {
namespace {

constexpr int kMostScore = 4095;

bool all_within(const double *values, size_t size, double least, double most) {
    return std::all_of(values, values + size, [&](double value) { return value >= least && value <= most; });
}

/// Return a series of matrices, one entry per row; the last one fits any profiles.
std::vector<MatrixRule> series_of(const Column<double> &above, const Column<int32_t> &shorter_than,
                                  const Column<float> &scales, const Column<int32_t> &mismatches,
                                  const Array<int32_t, 3> &scores) {
    const size_t n = above.size();
    require(n >= 1 && shorter_than.size() == n && scales.size() == n && mismatches.size() == n && scores.shape(0) == n,
            "above: all parts of a series must have the same number of entries, at least one");
    require(scores.shape(1) == kClustalwLetters && scores.shape(2) == kClustalwLetters,
            "scores: must have a row and a column per letter, of 25 letters");
    require(all_within(above.data(), n, -1e300, 1e300), "above: not a number");
    require(std::all_of(scores.data(), scores.data() + scores.size(),
                        [](int32_t score) { return score >= -kMostScore && score <= kMostScore; }),
            "scores: a number outside of -4095 to 4095");
    std::vector<MatrixRule> series(n);
    for (size_t k = 0; k < n; ++k) {
        require(scales.data()[k] >= 0 && scales.data()[k] <= 10, "scales: a number outside of 0 to 10");
        require(std::abs(static_cast<int64_t>(mismatches.data()[k])) <= kMostScore,
                "mismatches: a number outside of -4095 to 4095");
        series[k] = {above.data()[k], shorter_than.data()[k], scales.data()[k], mismatches.data()[k], {}};
        std::copy_n(scores.data() + k * series[k].scores.size(), series[k].scores.size(), series[k].scores.begin());
    }
    return series;
}

/// Return a family of n sequences with one weight each.
ClustalwFamily family_of(const Column<uint8_t> &letters, const Column<int64_t> &offsets,
                         const Array<int32_t, 2> &children, const Column<double> &lengths,
                         const Column<int32_t> &weights) {
    const auto n = static_cast<int64_t>(children.shape(0)) + 1;
    require(n >= 2 && n < INT32_MAX / 2, "children: must have at least two sequences");
    require(static_cast<int64_t>(offsets.size()) == n + 1, "offsets: must be one more than sequences");
    require_offsets(offsets.data(), n + 1, static_cast<int64_t>(letters.size()), "offsets");
    require_no_empty(offsets.data(), n + 1, "offsets");
    require(longest_of(offsets.data(), n + 1, "offsets") <= 1 << 16, "offsets: a sequence is longer than 65536");
    require_codes(letters.data(), letters.size(), kClustalwLetters, "letters");
    require(children.shape(1) == 2, "children: must be two per inner node");
    const auto *pairs = reinterpret_cast<const Children *>(children.data());
    std::vector<uint8_t> is_child(2 * static_cast<size_t>(n) - 1, 0);
    for (int64_t k = 0; k < n - 1; ++k)
        for (int32_t child : pairs[k]) {
            require(child >= 0 && child < n + k, "children: a node is not below its parent");
            require(!is_child[static_cast<size_t>(child)], "children: a node is the child of two");
            is_child[static_cast<size_t>(child)] = 1;
        }
    require(static_cast<int64_t>(lengths.size()) == 2 * n - 1, "lengths: must have a length per node");
    require(all_within(lengths.data(), lengths.size(), -1e30, 1e30), "lengths: a number outside of -1e30 to 1e30");
    require(static_cast<int64_t>(weights.size()) == n, "weights: must have a weight per sequence");
    require(std::all_of(weights.data(), weights.data() + n, [](int32_t w) { return w >= 1 && w <= 1 << 20; }),
            "weights: a number outside of 1 to 1048576");
    return {letters.data(), offsets.data(), static_cast<int32_t>(n), pairs, lengths.data(), nullptr, weights.data()};
}

struct Flags {
    bool is_compat, is_nucleotide, has_hydrophilic_gaps, has_residue_gaps, has_end_gaps, counts_end_gaps,
        negative_matrix, has_weights;
};

ClustalwRules rules_of(const Flags &flags, double gap_open, double gap_extend, int32_t gap_distance,
                       uint32_t hydrophilic, int32_t delay, std::vector<MatrixRule> series) {
    require(gap_open >= 0 && gap_open <= 100, "gap_open: outside of 0 to 100");
    require(gap_extend >= 0 && gap_extend <= 10, "gap_extend: outside of 0 to 10");
    require(gap_distance >= 0 && gap_distance <= 1000, "gap_distance: outside of 0 to 1000");
    require(hydrophilic < 1u << kClustalwLetters, "hydrophilic: a bit beyond the letters");
    return {flags.is_compat,
            flags.is_nucleotide,
            gap_open,
            gap_extend,
            gap_distance,
            hydrophilic,
            flags.has_hydrophilic_gaps,
            flags.has_residue_gaps,
            flags.has_end_gaps,
            flags.counts_end_gaps,
            flags.negative_matrix,
            flags.has_weights,
            delay,
            std::move(series)};
}

Tuple<Numpy<int32_t>, int64_t, Numpy<int32_t>> progressive_by_clustalw(
    Column<uint8_t> letters, Column<int64_t> offsets, Array<int32_t, 2> children, Column<double> lengths,
    Column<int32_t> weights, std::optional<Column<double>> distances, Column<double> above,
    Column<int32_t> shorter_than, Column<float> scales, Column<int32_t> mismatches, Array<int32_t, 3> scores,
    bool is_compat, bool is_nucleotide, double gap_open, double gap_extend, int32_t gap_distance, uint32_t hydrophilic,
    int32_t delay, bool has_hydrophilic_gaps, bool has_residue_gaps, bool has_end_gaps, bool counts_end_gaps,
    bool negative_matrix, bool has_weights, int64_t step_bytes, int n_threads, Progress progress) {
    ClustalwFamily family = family_of(letters, offsets, children, lengths, weights);
    if (distances) {
        require(static_cast<int64_t>(distances->size()) == int64_t{family.n} * (family.n - 1) / 2,
                "distances: must have a distance per pair");
        require(all_within(distances->data(), distances->size(), 0, 1e6), "distances: a number outside of 0 to 1e6");
        family.distances = distances->data();
    }
    const ClustalwRules rules = rules_of({is_compat, is_nucleotide, has_hydrophilic_gaps, has_residue_gaps,
                                          has_end_gaps, counts_end_gaps, negative_matrix, has_weights},
                                         gap_open, gap_extend, gap_distance, hydrophilic, delay,
                                         series_of(above, shorter_than, scales, mismatches, scores));
    require(step_bytes >= 0 && step_bytes <= int64_t{1} << 40, "step_bytes: outside of 0 to 2^40");
    require_threads(n_threads);
    require_progress(progress);
    PythonPoll poll(progress);
    std::optional<ClustalwAlignment> found;
    try {
        nb::gil_scoped_release released;
        found = align_clustalw(rules, family, static_cast<size_t>(step_bytes), n_threads, std::ref(poll));
    } catch (const std::length_error &error) {
        PyErr_SetString(PyExc_OverflowError, error.what());
        throw nb::python_error();
    }
    poll.rethrow();
    require(found.has_value(), "progress: stopped");
    return nb::make_tuple(to_numpy(std::move(found->columns)), found->n_columns, to_numpy(std::move(found->order)));
}

}  // namespace
}  // namespace tropalign

void bind_clustalw_profiles(nb::module_ &m) {
    using namespace tropalign;
    m.def("clustalw_progressive", &progressive_by_clustalw, array("letters"), array("offsets"), array("children"),
          array("lengths"), array("weights"), array("distances").none(), array("above"), array("shorter_than"),
          array("scales"), array("mismatches"), array("scores"), "is_compat"_a, "is_nucleotide"_a, "gap_open"_a,
          "gap_extend"_a, "gap_distance"_a, "hydrophilic"_a, "delay"_a, "has_hydrophilic_gaps"_a, "has_residue_gaps"_a,
          "has_end_gaps"_a, "counts_end_gaps"_a, "negative_matrix"_a, "has_weights"_a, "step_bytes"_a, "n_threads"_a,
          "progress"_a.none() = nb::none(),
          "Align along a guide tree. Returns the column of every residue, the number of columns, and the order in "
          "which sequences were aligned.");
}
