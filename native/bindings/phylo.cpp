// Python sees plain arrays; names and validation live in tropalign.phylo.
#include <nanobind/stl/array.h>

#include <array>
#include <cstring>
#include <memory>

#include "../phylo/batch.hpp"
#include "../phylo/dispatch.hpp"
#include "../phylo/prune.hpp"
#include "../phylo/vectors.hpp"
#include "python.hpp"

using namespace nb::literals;

namespace tropalign {
namespace {

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

/// Everything that branch vectors come from; holds the arrays.
class BranchMaker {
  public:
    BranchMaker(Array<uint8_t, 2> letters, Array<int64_t, 1> tip_row, Array<int64_t, 1> column, Array<uint32_t, 1> sets,
                int n_states, Array<int32_t, 2> joints, Array<int32_t, 2> branches, Array<double, 2> transitions, bool discrete,
                int n_threads)
        : letters_(letters), tip_row_(tip_row), column_(column), sets_(sets), joints_(joints), branches_(branches),
          transitions_(transitions) {
        if (joints.shape(1) != 5 || branches.shape(1) != 3 || transitions.shape(1) != 4 || sets.size() != 256 || n_threads < 1)
            throw nb::value_error("arrays of other shapes than branch vectors come from");
        const auto n_tips = static_cast<int64_t>(tip_row.size()), n_joints = static_cast<int64_t>(joints.shape(0));
        static_assert(sizeof(Joint) == 5 * sizeof(int32_t) && sizeof(BranchEnds) == 3 * sizeof(int32_t));
        request_ = {letters.data(), static_cast<int64_t>(letters.shape(1)), tip_row.data(), column.data(), n_tips,
                    static_cast<int64_t>(column.size()), sets.data(), n_states,
                    reinterpret_cast<const Joint *>(joints.data()), n_joints, n_tips + n_joints,
                    reinterpret_cast<const BranchEnds *>(branches.data()), static_cast<int64_t>(branches.shape(0)),
                    transitions.data(), discrete ? GapRule::discrete : GapRule::likelihood, n_threads};
        check();
    }

    /// uint64, shape (n_branches, 2): equal rows for equal vectors.
    nb::object hashes() const {
        std::vector<VectorHash> found;
        {
            nb::gil_scoped_release released;
            found = hash_branches(request_);
        }
        uint64_t *data;
        nb::object out = new_array<uint64_t>({found.size(), 2}, data);
        static_assert(sizeof(VectorHash) == 2 * sizeof(uint64_t));
        std::memcpy(data, found.data(), found.size() * sizeof(VectorHash));
        return out;
    }

    nb::object planes(Array<int64_t, 1> chosen) const {
        for (size_t k = 0; k < chosen.size(); ++k)
            if (chosen.data()[k] < 0 || chosen.data()[k] >= request_.n_branches) throw nb::value_error("there is no such branch");
        if (chosen.size() == 0) throw nb::value_error("no branch is chosen");
        std::vector<uint64_t> words;
        {
            nb::gil_scoped_release released;
            words = branch_planes(request_, chosen.data(), static_cast<int64_t>(chosen.size()));
        }
        const size_t n_planes = static_cast<size_t>(request_.n_states) + 1;
        const size_t n_groups = (chosen.size() + kPlaceLanes - 1) / kPlaceLanes;
        const std::array<size_t, 3> shape{n_groups, words.size() / n_groups / n_planes, n_planes};
        return to_numpy(std::move(words), shape);
    }

  private:
    void check() const {
        auto within = [](int64_t k, int64_t n) { return k >= 0 && k < n; };
        const auto n_transitions = static_cast<int64_t>(transitions_.shape(0));
        bool good = true;
        for (int64_t k = 0; k < request_.n_joints; ++k) {
            const Joint &j = request_.joints[k];
            good &= j.result == request_.n_tips + k && within(j.left, j.result) && within(j.right, j.result) &&
                    within(j.left_transition, n_transitions) && within(j.right_transition, n_transitions);
        }
        for (int64_t k = 0; k < request_.n_branches; ++k) {
            const BranchEnds &b = request_.branches[k];
            good &= within(b.one, request_.n_vectors) && within(b.other, request_.n_vectors) && within(b.transition, n_transitions);
        }
        for (int64_t k = 0; k < request_.n_tips; ++k) good &= within(request_.tip_row[k], static_cast<int64_t>(letters_.shape(0)));
        for (int64_t k = 0; k < request_.n_columns; ++k) good &= within(request_.column[k], request_.n_letters);
        if (!good) throw nb::value_error("a number is out of range");
    }

    Array<uint8_t, 2> letters_;
    Array<int64_t, 1> tip_row_, column_;
    Array<uint32_t, 1> sets_;
    Array<int32_t, 2> joints_, branches_;
    Array<double, 2> transitions_;
    VectorRequest request_;
};

ReferencePlanes planes_from(const Array<uint64_t, 3> &planes, int64_t n_vectors, int n_empty) {
    const auto n_groups = static_cast<int64_t>(planes.shape(0));
    if (n_vectors > kPlaceLanes * n_groups || n_vectors <= kPlaceLanes * (n_groups - 1)) throw nb::value_error("planes of other vectors");
    return {planes.data(), n_vectors, n_groups, static_cast<int64_t>(planes.shape(1)), static_cast<int>(planes.shape(2)) - 1, n_empty};
}

/// With bounds only those that may be among the n_best best. Beside the scores: where the best alignments lie; cells computed.
nb::tuple scores(Array<uint64_t, 3> planes, int64_t n_vectors, int n_empty, std::array<int32_t, 8> scoring, Array<uint8_t, 1> codes,
                 Array<int64_t, 1> offsets, Array<uint32_t, 1> sets, int word_bits, const BranchBounds *bounds, int n_best,
                 int n_threads, nb::object progress) {
    const ReferencePlanes reference = planes_from(planes, n_vectors, n_empty);
    const ReadBatch reads = reads_of(codes, offsets, sets);
    if (n_threads < 1) throw nb::value_error("n_threads is below 1");
    if (bounds && (word_bits > 16 || !can_prune(scoring_of(scoring)))) throw nb::value_error("bounds do not hold for these scores");
    int32_t *data;
    nb::object out = new_array<int32_t>({static_cast<size_t>(reads.n_reads), kPlaceLanes * planes.shape(0)}, data);
    int32_t *window;
    nb::object windows = new_array<int32_t>({static_cast<size_t>(reads.n_reads), 2}, window);
    PythonPoll poll(progress);
    std::atomic<int64_t> cells{0};
    {
        const PlaceKernels &kernels = *selected_place_kernels();
        nb::gil_scoped_release released;
        if (bounds) {
            place_best_scores(kernels, scoring_of(scoring), reference, *bounds, reads, word_bits, n_best, n_threads, data, window, cells, std::ref(poll));
        } else {
            place_scores(kernels, scoring_of(scoring), reference, reads, n_threads, word_bits, data, std::ref(poll));
            cells = kPlaceLanes * reference.n_groups * reference.n_columns * offsets.data()[reads.n_reads];
            for (int64_t k = 0; k < reads.n_reads; ++k)
                window[2 * k] = 0, window[2 * k + 1] = static_cast<int32_t>(reference.n_columns - n_empty);
        }
    }
    poll.rethrow();
    return nb::make_tuple(out, windows, cells.load());
}

void check_rows(const Array<int64_t, 1> &rows, int64_t n_vectors) {
    for (size_t k = 0; k < rows.size(); ++k)
        if (rows.data()[k] < 0 || rows.data()[k] >= n_vectors) throw nb::value_error("a row is out of range");
}

nb::tuple paths(Array<uint64_t, 3> planes, int64_t n_vectors, int n_empty, std::array<int32_t, 8> scoring,
                Array<uint8_t, 1> codes, Array<int64_t, 1> offsets, Array<uint32_t, 1> sets, Array<int64_t, 1> rows,
                Array<int32_t, 2> windows, int n_threads) {
    const ReferencePlanes reference = planes_from(planes, n_vectors, n_empty);
    const ReadBatch reads = reads_of(codes, offsets, sets);
    if (static_cast<int64_t>(rows.size()) != reads.n_reads || windows.shape(0) != rows.size() || windows.shape(1) != 2 || n_threads < 1)
        throw nb::value_error("one row and one window a read");
    check_rows(rows, n_vectors);
    for (size_t k = 0; k < rows.size(); ++k) {
        const int32_t *window = windows.data() + 2 * k;
        if (window[0] < 0 || window[0] >= window[1] || window[1] > reference.n_columns - n_empty)
            throw nb::value_error("a window is out of range");
    }
    int32_t *column, *score;
    nb::object columns = new_array<int32_t>({codes.size()}, column), best = new_array<int32_t>({rows.size()}, score);
    {
        nb::gil_scoped_release released;
        place_paths(scoring_of(scoring), reference, reads, rows.data(), windows.data(), n_threads, column, score);
    }
    return nb::make_tuple(columns, best);
}

nb::object vectors(Array<uint64_t, 3> planes, int64_t n_vectors, int n_empty, Array<int64_t, 1> rows) {
    const ReferencePlanes reference = planes_from(planes, n_vectors, n_empty);
    check_rows(rows, n_vectors);
    const auto n_columns = static_cast<size_t>(reference.n_columns - n_empty);
    uint32_t *data;
    nb::object out = new_array<uint32_t>({rows.size(), n_columns}, data);
    for (size_t k = 0; k < rows.size(); ++k) vector_of_lane(reference, rows.data()[k], data + k * n_columns);
    return out;
}

}  // namespace
}  // namespace tropalign

void bind_phylo(nb::module_ &m) {
    using namespace tropalign;
    nb::class_<BranchMaker>(m, "BranchMaker", "State sets and gap flags of branches; see tropalign.phylo.reference.")
        .def(nb::init<Array<uint8_t, 2>, Array<int64_t, 1>, Array<int64_t, 1>, Array<uint32_t, 1>, int, Array<int32_t, 2>,
                      Array<int32_t, 2>, Array<double, 2>, bool, int>(),
             "letters"_a, "tip_row"_a, "column"_a, "sets"_a, "n_states"_a, "joints"_a, "branches"_a, "transitions"_a,
             "discrete"_a, "n_threads"_a)
        .def("hashes", &BranchMaker::hashes)
        .def("planes", &BranchMaker::planes, "chosen"_a);
    m.def("plane_vectors", &vectors, "planes"_a, "n_vectors"_a, "n_empty"_a, "rows"_a,
          "State sets and gap flags of some vectors, by column.");
    nb::class_<BranchBounds>(m, "BranchBounds", "Bounds of every eight branches; see native/phylo/prune.hpp.")
        .def("__init__", [](BranchBounds *self, Array<uint64_t, 3> planes, int64_t n_vectors, int n_empty) {
            new (self) BranchBounds(make_bounds(planes_from(planes, n_vectors, n_empty)));
        }, "planes"_a, "n_vectors"_a, "n_empty"_a);
    m.def("place_word_bits", [](std::array<int32_t, 8> scoring, int64_t n_bases, int64_t n_columns) {
        return place_word_bits(scoring_of(scoring), n_bases, n_columns);
    }, "scoring"_a, "n_bases"_a, "n_columns"_a, "Bits that hold every score.");
    m.def("can_prune", [](std::array<int32_t, 8> scoring) { return can_prune(scoring_of(scoring)); }, "scoring"_a,
          "Whether bounds hold for these scores.");
    m.def("place_scores", &scores, "planes"_a, "n_vectors"_a, "n_empty"_a, "scoring"_a, "codes"_a, "offsets"_a, "sets"_a,
          "word_bits"_a, "bounds"_a.none(), "n_best"_a, "n_threads"_a, "progress"_a.none() = nb::none(), "Scores of reads against all lanes.");
    m.def("place_paths", &paths, "planes"_a, "n_vectors"_a, "n_empty"_a, "scoring"_a, "codes"_a, "offsets"_a, "sets"_a,
          "rows"_a, "windows"_a, "n_threads"_a, "The column of every base (-1: inserted) against one branch a read, and the score.");
}
