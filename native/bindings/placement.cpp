// Bindings: placement in trees; names and validation are in tropalign.placement.
#include <nanobind/stl/array.h>

#include <array>
#include <cstring>
#include <memory>

#include "../placement/branch_vectors.hpp"
#include "../placement/interface.hpp"
#include "../placement/prune.hpp"
#include "../placement/scores.hpp"
#include "check.hpp"

using namespace nb::literals;

namespace tropalign {
namespace {

template <class T>
Numpy<T> new_array(std::initializer_list<size_t> shape, T *&data) {
    size_t size = 1;
    for (size_t n : shape) size *= n;
    auto owner = std::make_unique<T[]>(size);
    data = owner.get();
    nb::capsule keep(owner.release(), [](void *p) noexcept { delete[] static_cast<T *>(p); });
    return nb::cast(nb::ndarray<nb::numpy, T>(data, shape.size(), shape.begin(), keep));
}

constexpr int32_t kHighestScore = 1 << 20;

/// match, mismatch, on_gap, gap_open, gap_extend, insert_open, insert_extend, whole_read.
using ScoringNumbers = std::array<int32_t, 8>;

PlaceScoring scoring_of(const ScoringNumbers &s) {
    for (int32_t number : s)
        require(number >= -kHighestScore && number <= kHighestScore, "scoring: a number exceeds 1048576");
    require(std::min({s[3], s[4], s[5], s[6]}) >= 0, "scoring: costs must be at least 0");
    return {s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7] != 0};
}

void check_sets(const Array<uint32_t, 1> &sets, int n_states) {
    require(n_states >= 1 && n_states <= kMostStates, "n_states: outside of 1 to 31");
    require_below(sets.data(), sets.size(), int64_t{1} << n_states, "sets");
}

ReadBatch reads_of(const Array<uint8_t, 1> &codes, const Array<int64_t, 1> &offsets, const Array<uint32_t, 1> &sets,
                   int n_states) {
    const auto n_entries = static_cast<int64_t>(offsets.size()), n_codes = static_cast<int64_t>(codes.size());
    require_offsets(offsets.data(), n_entries, n_codes, "offsets");
    require(offsets.data()[0] == 0 && offsets.data()[n_entries - 1] == n_codes,
            "offsets: must start and end with the codes");
    longest_of(offsets.data(), n_entries, "offsets");
    check_sets(sets, n_states);
    require(sets.size() <= 256, "sets: more sets than codes");
    require_codes(codes.data(), codes.size(), static_cast<int>(sets.size()), "codes");
    return {codes.data(), offsets.data(), n_entries - 1, sets.data(), static_cast<int>(sets.size())};
}

/// Return the lane width in bits that the longest of the reads needs.
int word_bits_of(const PlaceScoring &scoring, const ReadBatch &reads, int64_t n_columns) {
    const int64_t longest = longest_of(reads.offsets, reads.n_reads + 1, "offsets");
    const int bits = place_word_bits(scoring, longest, n_columns);
    require(bits > 0, "scoring: scores of the longest read may exceed 32 bits");
    return bits;
}

/// Holds and checks the input arrays of branch vectors.
class BranchMaker {
  public:
    BranchMaker(Array<uint8_t, 2> letters, Array<int64_t, 1> tip_row, Array<int64_t, 1> column, Array<uint32_t, 1> sets,
                int n_states, Array<int32_t, 2> joints, Array<int32_t, 2> branches, Array<double, 2> transitions,
                bool discrete, int n_threads)
        : letters_(letters), tip_row_(tip_row), column_(column), sets_(sets), joints_(joints), branches_(branches),
          transitions_(transitions) {
        require_threads(n_threads);
        require(joints.shape(1) == 5 && branches.shape(1) == 3 && transitions.shape(1) == 4,
                "joints, branches, transitions: must have rows of 5, 3 and 4 numbers");
        require(sets.size() == 256, "sets: must have a set per byte");
        check_sets(sets, n_states);
        const auto n_tips = static_cast<int64_t>(tip_row.size()), n_joints = static_cast<int64_t>(joints.shape(0));
        require(n_tips + n_joints <= INT32_MAX && column.size() <= INT32_MAX,
                "tip_row, joints, column: more than 2147483647");
        require(column.size() > 0 && branches.shape(0) > 0, "column, branches: empty");
        static_assert(sizeof(Joint) == 5 * sizeof(int32_t) && sizeof(BranchEnds) == 3 * sizeof(int32_t));
        request_ = {letters.data(),
                    static_cast<int64_t>(letters.shape(1)),
                    tip_row.data(),
                    column.data(),
                    n_tips,
                    static_cast<int64_t>(column.size()),
                    sets.data(),
                    n_states,
                    reinterpret_cast<const Joint *>(joints.data()),
                    n_joints,
                    n_tips + n_joints,
                    reinterpret_cast<const BranchEnds *>(branches.data()),
                    static_cast<int64_t>(branches.shape(0)),
                    transitions.data(),
                    discrete ? GapRule::discrete : GapRule::likelihood,
                    n_threads};
        check_numbers();
    }

    /// Return the distinct vectors as planes, and the index of each branch's vector.
    Tuple<Numpy<uint64_t>, Numpy<int64_t>> planes() const {
        DistinctVectors found;
        {
            nb::gil_scoped_release released;
            found = distinct_vectors(request_);
        }
        const size_t n_planes = static_cast<size_t>(request_.n_states) + 1;
        const auto n_groups = static_cast<size_t>((found.n_distinct + kPlaceLanes - 1) / kPlaceLanes);
        const std::array<size_t, 3> shape{n_groups, found.words.size() / n_groups / n_planes, n_planes};
        const std::array<size_t, 1> length{found.distinct.size()};
        return nb::make_tuple(to_numpy(std::move(found.words), shape), to_numpy(std::move(found.distinct), length));
    }

  private:
    void check_numbers() const {
        auto within = [](int64_t k, int64_t n) { return k >= 0 && k < n; };
        const auto n_transitions = static_cast<int64_t>(transitions_.shape(0));
        bool good = true;
        for (int64_t k = 0; k < request_.n_joints; ++k) {
            const Joint &j = request_.joints[k];
            good &= j.result == request_.n_tips + k && within(j.left, j.result) && within(j.right, j.result) &&
                    within(j.left_transition, n_transitions) && within(j.right_transition, n_transitions);
        }
        require(good, "joints: a number is out of range");
        for (int64_t k = 0; k < request_.n_branches; ++k) {
            const BranchEnds &b = request_.branches[k];
            good &= within(b.one, request_.n_vectors) && within(b.other, request_.n_vectors) &&
                    within(b.transition, n_transitions);
        }
        require(good, "branches: a number is out of range");
        require_below(request_.tip_row, tip_row_.size(), static_cast<int64_t>(letters_.shape(0)), "tip_row");
        require_below(request_.column, column_.size(), request_.n_letters, "column");
    }

    Array<uint8_t, 2> letters_;
    Array<int64_t, 1> tip_row_, column_;
    Array<uint32_t, 1> sets_;
    Array<int32_t, 2> joints_, branches_;
    Array<double, 2> transitions_;
    VectorRequest request_;
};

ReferencePlanes planes_from(const Array<uint64_t, 3> &planes, int64_t n_vectors, int n_empty) {
    const auto n_groups = static_cast<int64_t>(planes.shape(0)), n_columns = static_cast<int64_t>(planes.shape(1));
    const auto n_planes = static_cast<int64_t>(planes.shape(2));
    require(n_planes >= 2 && n_planes <= kMostStates + 1, "planes: must have 1 to 31 states and the gap flag");
    require(n_columns % kPlaceColumns == 0 && n_columns <= INT32_MAX,
            "planes: the number of columns must be a multiple of 4");
    require(n_groups >= 1 && n_groups <= INT32_MAX / kPlaceLanes,
            "planes: must have at least one vector, and not too many");
    require(n_vectors <= kPlaceLanes * n_groups && n_vectors > kPlaceLanes * (n_groups - 1),
            "n_vectors: differs from the planes");
    require(n_empty >= 0 && n_empty < n_columns, "n_empty: outside of the columns of the planes");
    return {planes.data(), n_vectors, n_groups, n_columns, static_cast<int>(n_planes) - 1, n_empty};
}

/// Check that bounds fit these planes, as far as their shapes show.
void check_bounds(const BranchBounds &bounds, const ReferencePlanes &planes, const PlaceScoring &scoring, int word_bits,
                  int n_best) {
    require(bounds.n_vectors == planes.n_vectors && bounds.n_reference_columns == planes.n_columns &&
                bounds.n_states == planes.n_states && bounds.n_empty == planes.n_empty,
            "bounds: made from other planes");
    require(word_bits <= 16 && can_prune(scoring), "bounds: not valid for these scores");
    require(n_best >= 1, "n_best: below 1");
}

/// Return the scores of all vectors, or with bounds those of the vectors that may be among the n_best best; the
/// windows of columns that contain the best alignments; and the number of cells computed.
Tuple<Numpy<int32_t>, Numpy<int32_t>, Numpy<int8_t>, int64_t> scores_of_reads(
    Array<uint64_t, 3> planes, int64_t n_vectors, int n_empty, ScoringNumbers numbers, Array<uint8_t, 1> codes,
    Array<int64_t, 1> offsets, Array<uint32_t, 1> sets, int word_bits, const BranchBounds *bounds, int n_best,
    int n_strands, int n_threads, Progress progress) {
    require_threads(n_threads);
    require_progress(progress);
    const PlaceScoring scoring = scoring_of(numbers);
    const ReferencePlanes reference = planes_from(planes, n_vectors, n_empty);
    const ReadBatch reads = reads_of(codes, offsets, sets, reference.n_states);
    require(word_bits == 8 || word_bits == 16 || word_bits == 32, "word_bits: must be 8, 16 or 32");
    require(word_bits >= word_bits_of(scoring, reads, reference.n_columns - n_empty),
            "word_bits: too few for the scores of the longest read");
    if (bounds) check_bounds(*bounds, reference, scoring, word_bits, n_best);
    require(n_strands == 1 || (n_strands == 2 && bounds), "n_strands: must be 1, or with bounds 2");
    require(reads.n_reads % n_strands == 0, "n_strands: the number of reads is odd");
    int32_t *data, *window;
    int8_t *strand;
    const auto n_reads = static_cast<size_t>(reads.n_reads / n_strands);
    const auto out = new_array<int32_t>({n_reads, kPlaceLanes * planes.shape(0)}, data);
    const auto windows = new_array<int32_t>({n_reads, 2}, window);
    const auto strands = new_array<int8_t>({n_reads}, strand);
    PythonPoll poll(progress);
    std::atomic<int64_t> cells{0};
    {
        const PlaceKernels &kernels = *selected_place_kernels();
        nb::gil_scoped_release released;
        if (bounds) {
            place_best_scores(kernels, scoring, reference, *bounds, reads, n_strands, word_bits, n_best, n_threads,
                              data, window, strand, cells, std::ref(poll));
        } else {
            place_scores(kernels, scoring, reference, reads, n_threads, word_bits, data, std::ref(poll));
            cells = kPlaceLanes * reference.n_groups * reference.n_columns * offsets.data()[reads.n_reads];
            for (int64_t k = 0; k < reads.n_reads; ++k) {
                window[2 * k] = 0, window[2 * k + 1] = static_cast<int32_t>(reference.n_columns - n_empty);
                strand[k] = 0;
            }
        }
    }
    poll.rethrow();
    return nb::make_tuple(out, windows, strands, cells.load());
}

Tuple<Numpy<int32_t>, Numpy<int32_t>> paths(Array<uint64_t, 3> planes, int64_t n_vectors, int n_empty,
                                            ScoringNumbers numbers, Array<uint8_t, 1> codes, Array<int64_t, 1> offsets,
                                            Array<uint32_t, 1> sets, Array<int64_t, 1> rows, Array<int32_t, 2> windows,
                                            int n_threads) {
    require_threads(n_threads);
    const PlaceScoring scoring = scoring_of(numbers);
    const ReferencePlanes reference = planes_from(planes, n_vectors, n_empty);
    const ReadBatch reads = reads_of(codes, offsets, sets, reference.n_states);
    word_bits_of(scoring, reads, reference.n_columns - n_empty);
    require(
        static_cast<int64_t>(rows.size()) == reads.n_reads && windows.shape(0) == rows.size() && windows.shape(1) == 2,
        "rows, windows: must have one per read");
    require_below(rows.data(), rows.size(), n_vectors, "rows");
    bool good = true;
    for (size_t k = 0; k < rows.size(); ++k) {
        const int32_t begin = windows(k, 0), end = windows(k, 1);
        good &= begin >= 0 && begin < end && end <= reference.n_columns - n_empty;
    }
    require(good, "windows: a window is empty, or outside of the columns");
    int32_t *column, *score;
    const auto columns = new_array<int32_t>({codes.size()}, column), best = new_array<int32_t>({rows.size()}, score);
    {
        nb::gil_scoped_release released;
        place_paths(scoring, reference, reads, rows.data(), windows.data(), n_threads, column, score);
    }
    return nb::make_tuple(columns, best);
}

Numpy<uint32_t> vectors(Array<uint64_t, 3> planes, int64_t n_vectors, int n_empty, Array<int64_t, 1> rows) {
    const ReferencePlanes reference = planes_from(planes, n_vectors, n_empty);
    require_below(rows.data(), rows.size(), n_vectors, "rows");
    const auto n_columns = static_cast<size_t>(reference.n_columns - n_empty);
    uint32_t *data;
    const auto out = new_array<uint32_t>({rows.size(), n_columns}, data);
    for (size_t k = 0; k < rows.size(); ++k) vector_of_lane(reference, rows.data()[k], data + k * n_columns);
    return out;
}

int word_bits(ScoringNumbers numbers, int64_t n_bases, int64_t n_columns) {
    require(n_bases >= 0 && n_bases <= INT32_MAX && n_columns >= 0 && n_columns <= INT32_MAX,
            "n_bases, n_columns: outside of 0 to 2147483647");
    const int bits = place_word_bits(scoring_of(numbers), n_bases, n_columns);
    if (!bits) refuse("scoring: scores of " + std::to_string(n_bases) + " bases may exceed 32 bits");
    return bits;
}

}  // namespace
}  // namespace tropalign

void bind_placement(nb::module_ &m) {
    using namespace tropalign;
    nb::class_<BranchMaker>(m, "BranchMaker",
                            "Compute state sets and gap flags of branches; see tropalign.placement.reference.")
        .def(nb::init<Array<uint8_t, 2>, Array<int64_t, 1>, Array<int64_t, 1>, Array<uint32_t, 1>, int,
                      Array<int32_t, 2>, Array<int32_t, 2>, Array<double, 2>, bool, int>(),
             array("letters"), array("tip_row"), array("column"), array("sets"), "n_states"_a, array("joints"),
             array("branches"), array("transitions"), "discrete"_a, "n_threads"_a)
        .def("planes", &BranchMaker::planes);
    m.def("plane_vectors", &vectors, array("planes"), "n_vectors"_a, "n_empty"_a, array("rows"),
          "Return state sets and gap flags of some vectors, by column.");
    nb::class_<BranchBounds>(m, "BranchBounds", "Bounds of groups of eight branches; see native/placement/bounds.hpp.")
        .def(
            "__init__",
            [](BranchBounds *self, Array<uint64_t, 3> planes, int64_t n_vectors, int n_empty) {
                new (self) BranchBounds(make_bounds(planes_from(planes, n_vectors, n_empty)));
            },
            array("planes"), "n_vectors"_a, "n_empty"_a);
    m.def("place_word_bits", &word_bits, "scoring"_a, "n_bases"_a, "n_columns"_a,
          "Return the bits per lane that hold every score.");
    m.def(
        "can_prune", [](ScoringNumbers scoring) { return can_prune(scoring_of(scoring)); }, "scoring"_a,
        "True if bounds are valid for these scores.");
    m.def("place_scores", &scores_of_reads, array("planes"), "n_vectors"_a, "n_empty"_a, "scoring"_a, array("codes"),
          array("offsets"), array("sets"), "word_bits"_a, "bounds"_a.none(), "n_best"_a, "n_strands"_a, "n_threads"_a,
          "progress"_a.none() = nb::none(), "Score reads against all lanes.");
    m.def("place_paths", &paths, array("planes"), "n_vectors"_a, "n_empty"_a, "scoring"_a, array("codes"),
          array("offsets"), array("sets"), array("rows"), array("windows"), "n_threads"_a,
          "Align each read with one branch; returns the column of every base (-1: inserted), and the scores.");
}
