// Python sees plain arrays; names and validation live in tropalign.phylo.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/function.h>

#include <array>
#include <cstring>
#include <memory>

#include "../phylo/batch.hpp"
#include "../phylo/dispatch.hpp"
#include "../phylo/prune.hpp"
#include "../phylo/vectors.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace tropalign {
namespace {

template <class T, size_t n>
using Array = nb::ndarray<const T, nb::ndim<n>, nb::c_contig, nb::device::cpu>;

template <class T>
nb::object new_array(std::initializer_list<size_t> shape, T *&data) {
    size_t size = 1;
    for (size_t n : shape) size *= n;
    auto owner = std::make_unique<T[]>(size);
    data = owner.get();
    nb::capsule keep(owner.release(), [](void *p) noexcept { delete[] static_cast<T *>(p); });
    return nb::cast(nb::ndarray<nb::numpy, T>(data, shape.size(), shape.begin(), keep));
}

/// match, mismatch, on_gap, gap_open, gap_extend, insert_open, insert_extend, whole_read.
PlaceScoring scoring_of(const std::array<int32_t, 8> &s) { return {s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7] != 0}; }

ReadBatch reads_of(const Array<uint8_t, 1> &codes, const Array<int64_t, 1> &offsets, const Array<uint32_t, 1> &sets) {
    const auto n_reads = static_cast<int64_t>(offsets.size()) - 1;
    if (n_reads < 0 || offsets.data()[n_reads] != static_cast<int64_t>(codes.size())) throw nb::value_error("offsets do not fit the codes");
    return {codes.data(), offsets.data(), n_reads, sets.data(), static_cast<int>(sets.size())};
}

template <class Word>
nb::object vectors_as(const VectorRequest &request) {
    Word *data;
    nb::object out = new_array<Word>({static_cast<size_t>(request.n_branches), static_cast<size_t>(request.n_columns)}, data);
    nb::gil_scoped_release released;
    branch_vectors(request, data);
    return out;
}

nb::object make_vectors(Array<uint32_t, 2> tips, uint32_t all_states, Array<int32_t, 2> joints, int64_t n_vectors,
                        Array<int32_t, 2> branches, Array<double, 2> transitions, bool discrete, int n_threads) {
    if (joints.shape(1) != 5 || branches.shape(1) != 3 || transitions.shape(1) != 4 || n_threads < 1)
        throw nb::value_error("arrays of other shapes than branch_vectors takes");
    const auto n_tips = static_cast<int64_t>(tips.shape(0)), n_transitions = static_cast<int64_t>(transitions.shape(0));
    auto within = [](int32_t k, int64_t n) { return k >= 0 && k < n; };
    const int32_t *j = joints.data();
    for (size_t k = 0; k < joints.shape(0); ++k, j += 5)
        if (!within(j[0], n_vectors) || j[0] < n_tips || !within(j[1], n_vectors) || !within(j[2], n_transitions) ||
            !within(j[3], n_vectors) || !within(j[4], n_transitions))
            throw nb::value_error("a joint is out of range");
    const int32_t *b = branches.data();
    for (size_t k = 0; k < branches.shape(0); ++k, b += 3)
        if (!within(b[0], n_vectors) || !within(b[1], n_vectors) || !within(b[2], n_transitions))
            throw nb::value_error("a branch is out of range");
    static_assert(sizeof(Joint) == 5 * sizeof(int32_t) && sizeof(BranchEnds) == 3 * sizeof(int32_t));
    VectorRequest request{tips.data(), n_tips, static_cast<int64_t>(tips.shape(1)), all_states,
                          reinterpret_cast<const Joint *>(joints.data()), static_cast<int64_t>(joints.shape(0)), n_vectors,
                          reinterpret_cast<const BranchEnds *>(branches.data()), static_cast<int64_t>(branches.shape(0)),
                          transitions.data(), discrete ? GapRule::discrete : GapRule::likelihood, n_threads};
    return all_states < 128 ? vectors_as<uint8_t>(request) : vectors_as<uint32_t>(request);
}

template <class Word>
nb::object planes_of(Array<Word, 2> vectors, int n_states) {
    const size_t n_columns = (vectors.shape(1) + kPlaceColumns - 1) / kPlaceColumns * kPlaceColumns;
    const size_t n_groups = (vectors.shape(0) + kPlaceLanes - 1) / kPlaceLanes;
    auto owner = std::make_unique<std::vector<uint64_t>>(
        lane_planes(vectors.data(), static_cast<int64_t>(vectors.shape(0)), static_cast<int64_t>(vectors.shape(1)), n_states));
    uint64_t *data = owner->data();
    nb::capsule keep(owner.release(), [](void *p) noexcept { delete static_cast<std::vector<uint64_t> *>(p); });
    const std::array<size_t, 3> shape{n_groups, n_columns, static_cast<size_t>(n_states) + 1};
    return nb::cast(nb::ndarray<nb::numpy, uint64_t>(data, 3, shape.data(), keep));
}

ReferencePlanes planes_from(const Array<uint64_t, 3> &planes, int64_t n_vectors, int n_empty) {
    const auto n_groups = static_cast<int64_t>(planes.shape(0));
    if (n_vectors > kPlaceLanes * n_groups || n_vectors <= kPlaceLanes * (n_groups - 1)) throw nb::value_error("planes of other vectors");
    return {planes.data(), n_vectors, n_groups, static_cast<int64_t>(planes.shape(1)), static_cast<int>(planes.shape(2)) - 1, n_empty};
}

/// n_best 0: every score; else those that may be among as many best.
nb::tuple scores(Array<uint64_t, 3> planes, int64_t n_vectors, int n_empty, std::array<int32_t, 8> scoring, Array<uint8_t, 1> codes,
                 Array<int64_t, 1> offsets, Array<uint32_t, 1> sets, int word_bits, const BranchBounds *bounds, int n_best,
                 int n_threads, nb::object progress) {
    const ReferencePlanes reference = planes_from(planes, n_vectors, n_empty);
    const ReadBatch reads = reads_of(codes, offsets, sets);
    if (n_threads < 1) throw nb::value_error("n_threads is below 1");
    if (bounds && word_bits != 8) throw nb::value_error("bounds are for 8 bits");
    int32_t *data;
    nb::object out = new_array<int32_t>({static_cast<size_t>(reads.n_reads), kPlaceLanes * planes.shape(0)}, data);
    bool raised = false;
    auto poll = [&](int64_t done) {
        nb::gil_scoped_acquire gil;
        try {
            if (PyErr_CheckSignals() != 0) raised = true;
            else if (!progress.is_none()) progress(done);
        } catch (nb::python_error &error) {
            error.restore();
            raised = true;
        }
        return !raised;
    };
    std::atomic<int64_t> cells{0};
    {
        const PlaceKernels &kernels = *selected_place_kernels();
        nb::gil_scoped_release released;
        if (bounds) {
            place_best_scores(kernels, scoring_of(scoring), reference, *bounds, reads, n_best, n_threads, data, cells, poll);
        } else {
            place_scores(kernels, scoring_of(scoring), reference, reads, n_threads, word_bits, data, poll);
            cells = kPlaceLanes * reference.n_groups * reference.n_columns * offsets.data()[reads.n_reads];
        }
    }
    if (raised) throw nb::python_error();
    return nb::make_tuple(out, cells.load());
}

template <class Word>
nb::tuple paths(Array<Word, 2> vectors, int n_states, std::array<int32_t, 8> scoring, Array<uint8_t, 1> codes,
                Array<int64_t, 1> offsets, Array<uint32_t, 1> sets, Array<int64_t, 1> rows, int n_threads) {
    const ReadBatch reads = reads_of(codes, offsets, sets);
    if (static_cast<int64_t>(rows.size()) != reads.n_reads || n_threads < 1) throw nb::value_error("one row a read");
    for (size_t k = 0; k < rows.size(); ++k)
        if (rows.data()[k] < 0 || rows.data()[k] >= static_cast<int64_t>(vectors.shape(0))) throw nb::value_error("a row is out of range");
    int32_t *column, *score;
    nb::object columns = new_array<int32_t>({codes.size()}, column), best = new_array<int32_t>({rows.size()}, score);
    {
        nb::gil_scoped_release released;
        place_paths(scoring_of(scoring), vectors.data(), static_cast<int64_t>(vectors.shape(1)), n_states, reads, rows.data(),
                    n_threads, column, score);
    }
    return nb::make_tuple(columns, best);
}

}  // namespace
}  // namespace tropalign

void bind_phylo(nb::module_ &m) {
    using namespace tropalign;
    m.def("branch_vectors", &make_vectors, "tips"_a, "all_states"_a, "joints"_a, "n_vectors"_a, "branches"_a, "transitions"_a,
          "discrete"_a, "n_threads"_a, "State sets and gap flags of all branches; see tropalign.phylo.");
    m.def("lane_planes", &planes_of<uint8_t>, "vectors"_a, "n_states"_a, "Branch vectors as one bit a lane.");
    m.def("lane_planes", &planes_of<uint32_t>, "vectors"_a, "n_states"_a);
    nb::class_<BranchBounds>(m, "BranchBounds", "Bounds of every eight branches; see native/phylo/prune.hpp.")
        .def("__init__", [](BranchBounds *self, Array<uint64_t, 3> planes, int64_t n_vectors, int n_empty) {
            new (self) BranchBounds(make_bounds(planes_from(planes, n_vectors, n_empty)));
        }, "planes"_a, "n_vectors"_a, "n_empty"_a);
    m.def("place_word_bits", [](std::array<int32_t, 8> scoring, int64_t n_bases, int64_t n_columns) {
        return place_word_bits(scoring_of(scoring), n_bases, n_columns);
    }, "scoring"_a, "n_bases"_a, "n_columns"_a, "Bits that hold every score.");
    m.def("place_scores", &scores, "planes"_a, "n_vectors"_a, "n_empty"_a, "scoring"_a, "codes"_a, "offsets"_a, "sets"_a,
          "word_bits"_a, "bounds"_a.none(), "n_best"_a, "n_threads"_a, "progress"_a.none() = nb::none(), "Scores of reads against all lanes.");
    m.def("place_paths", &paths<uint8_t>, "vectors"_a, "n_states"_a, "scoring"_a, "codes"_a, "offsets"_a, "sets"_a, "rows"_a,
          "n_threads"_a, "The column of every base (-1: inserted) against one branch a read, and the score.");
    m.def("place_paths", &paths<uint32_t>, "vectors"_a, "n_states"_a, "scoring"_a, "codes"_a, "offsets"_a, "sets"_a, "rows"_a,
          "n_threads"_a);
}
