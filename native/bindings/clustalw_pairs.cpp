// Bindings: CLUSTALW's pairwise distances.
#include <algorithm>
#include <cmath>

#include "../clustalw/pairs.hpp"
#include "../clustalw/rooting.hpp"
#include "../clustalw/words.hpp"
#include "check.hpp"

using namespace nb::literals;

namespace tropalign {
namespace {

/// Maximum number of sequences: with more, an array of 4 bytes per pair exceeds the memory of any machine.
constexpr int64_t kMostSequences = 1 << 20;
constexpr int kMostWordRule = 1000;

ClustalwSequences sequences_of(const Array<uint8_t, 1> &codes, const Array<int64_t, 1> &offsets) {
    const auto n_entries = static_cast<int64_t>(offsets.size());
    require_offsets(offsets.data(), n_entries, static_cast<int64_t>(codes.size()), "offsets");
    longest_of(offsets.data(), n_entries, "offsets");
    require_codes(codes.data(), codes.size(), kClustalwCodes, "codes");
    require(n_entries - 1 <= kMostSequences, "offsets: too many sequences to compare all pairs");
    return {codes.data(), offsets.data(), n_entries - 1};
}

/// Refuse scores whose sum over a path could exceed 32 bits.
void require_scores(const int32_t *values, size_t count, int64_t longest, const char *name) {
    int64_t highest = 0;
    for (size_t k = 0; k < count; ++k) highest = std::max(highest, std::abs(static_cast<int64_t>(values[k])));
    if (highest * (2 * longest + 4) > INT32_MAX) refuse(std::string(name) + ": scores may exceed 2147483647");
}

Numpy<int32_t> identities(Array<uint8_t, 1> codes, Array<int64_t, 1> offsets, Array<int32_t, 2> matrix,
                          Array<int32_t, 1> gap_open, int32_t gap_extend, int n_threads, Progress progress) {
    require_threads(n_threads);
    require_progress(progress);
    const ClustalwSequences sequences = sequences_of(codes, offsets);
    const int64_t longest = longest_of(offsets.data(), sequences.n + 1, "offsets");
    require(matrix.shape(0) == kClustalwCodes && matrix.shape(1) == kClustalwCodes, "matrix: must have shape (32, 32)");
    require(static_cast<int64_t>(gap_open.size()) > longest, "gap_open: must have a cost per length up to the longest");
    require(gap_extend >= 0 &&
                std::all_of(gap_open.data(), gap_open.data() + gap_open.size(), [](int32_t cost) { return cost >= 0; }),
            "gap_open, gap_extend: a gap has a negative cost");
    require_scores(matrix.data(), matrix.size(), longest, "matrix");
    require_scores(gap_open.data(), gap_open.size(), 8, "gap_open");
    require_scores(&gap_extend, 1, longest, "gap_extend");
    std::vector<int32_t> found(sequences.n_pairs());
    PythonPoll poll(progress);
    {
        nb::gil_scoped_release released;
        clustalw_identities(sequences, {matrix.data(), gap_open.data(), gap_extend}, n_threads, found.data(),
                            std::ref(poll));
    }
    poll.rethrow();
    return to_numpy(std::move(found));
}

WordRules rules_of(int length, int gap, int n_top, int window, int n_letters) {
    require(length >= 1 && length <= kLongestClustalwWord, "length: outside of 1 to 8");
    require(gap >= 0 && gap <= kMostWordRule, "gap: outside of 0 to 1000");
    require(n_top >= 1 && n_top <= kMostWordRule, "n_top: outside of 1 to 1000");
    require(window >= 0 && window <= kMostWordRule, "window: outside of 0 to 1000");
    require(n_letters >= 1 && n_letters <= kClustalwCodes, "n_letters: outside of 1 to 32");
    int64_t n_words = 1;
    for (int k = 0; k < length; ++k) n_words *= n_letters;
    require(n_words <= kMostWords, "length: more than 1048576 k-mers");
    return {length, gap, n_top, window, n_letters};
}

/// Return the scores that `of` computes for all pairs.
Numpy<int32_t> word_scores_by(decltype(clustalw_word_scores) of, const Array<uint8_t, 1> &codes,
                              const Array<int64_t, 1> &offsets, const WordRules &rules, int n_threads,
                              const Progress &progress) {
    require_threads(n_threads);
    require_progress(progress);
    const ClustalwSequences sequences = sequences_of(codes, offsets);
    require(longest_of(offsets.data(), sequences.n + 1, "offsets") <= kLongestOfWords,
            "offsets: a sequence is longer than 65535");
    std::vector<int32_t> scores(sequences.n_pairs());
    PythonPoll poll(progress);
    {
        nb::gil_scoped_release released;
        of(sequences, rules, n_threads, scores.data(), std::ref(poll));
    }
    poll.rethrow();
    return to_numpy(std::move(scores));
}

Numpy<int32_t> word_scores(Array<uint8_t, 1> codes, Array<int64_t, 1> offsets, int n_letters, int length, int gap,
                           int n_top, int window, int n_threads, Progress progress) {
    const WordRules rules = rules_of(length, gap, n_top, window, n_letters);
    return word_scores_by(clustalw_word_scores, codes, offsets, rules, n_threads, progress);
}

Numpy<int32_t> word_scores_compat(Array<uint8_t, 1> codes, Array<int64_t, 1> offsets, int n_letters, int length,
                                  int gap, int n_top, int window, int n_threads, Progress progress) {
    const WordRules rules = rules_of(length, gap, n_top, window, n_letters);
    return word_scores_by(clustalw_word_scores_compat, codes, offsets, rules, n_threads, progress);
}

template <class T>
Tuple<Numpy<int32_t>, Numpy<T>> rooted_as(const Array<int32_t, 2> &children, const Column<T> &lengths,
                                          BinaryTree<T> (*root)(const BinaryTree<T> &)) {
    const auto n = static_cast<int64_t>(children.shape(0)) + 1;
    require(n >= 3, "children: must have at least three leaves");
    require_children(children, n);
    require(static_cast<int64_t>(lengths.size()) == 2 * n - 1, "lengths: must have a length per node");
    const bool finite = std::all_of(lengths.data(), lengths.data() + lengths.size(),
                                    [](T length) { return std::abs(length) <= T{1e6}; });
    require(finite, "lengths: a number outside of -1000000 to 1000000");
    const BinaryTree<T> given{{children.data(), children.data() + children.size()},
                              {lengths.data(), lengths.data() + lengths.size()}};
    BinaryTree<T> tree;
    {
        nb::gil_scoped_release released;
        tree = root(given);
    }
    const std::array<size_t, 2> shape{static_cast<size_t>(n) - 1, 2};
    return nb::make_tuple(to_numpy(std::move(tree.children), shape), to_numpy(std::move(tree.lengths)));
}

Tuple<Numpy<int32_t>, Numpy<double>> rooted(Array<int32_t, 2> children, Column<double> lengths) {
    return rooted_as<double>(children, lengths, clustalw_rooted);
}

Tuple<Numpy<int32_t>, Numpy<float>> rooted_compat(Array<int32_t, 2> children, Column<float> lengths) {
    return rooted_as<float>(children, lengths, clustalw_rooted_compat);
}

}  // namespace
}  // namespace tropalign

void bind_clustalw_pairs(nanobind::module_ &m) {
    using namespace tropalign;
    m.def("clustalw_identities", &identities, array("codes"), array("offsets"), array("matrix"), array("gap_open"),
          "gap_extend"_a, "n_threads"_a, "progress"_a.none() = nb::none(),
          "Count the identical columns of all pairs as aligned by CLUSTALW, in the order (0,1), (0,2) .. (1,2) ..");
    m.def("clustalw_word_scores", &word_scores, array("codes"), array("offsets"), "n_letters"_a, "length"_a, "gap"_a,
          "n_top"_a, "window"_a, "n_threads"_a, "progress"_a.none() = nb::none(),
          "Count the residues in the best chains of k-mers of all pairs; see native/clustalw/words.hpp.");
    m.def("clustalw_word_scores_compat", &word_scores_compat, array("codes"), array("offsets"), "n_letters"_a,
          "length"_a, "gap"_a, "n_top"_a, "window"_a, "n_threads"_a, "progress"_a.none() = nb::none(),
          "Like clustalw_word_scores, exactly as in CLUSTALW 2.1.");
    m.def("clustalw_rooted", &rooted, array("children"), array("lengths"),
          "Root a tree as CLUSTALW does; returns children and lengths. See native/clustalw/rooting.hpp.");
    m.def("clustalw_rooted_compat", &rooted_compat, array("children"), array("lengths"),
          "Like clustalw_rooted, in float32, rounded as in CLUSTALW 2.1.");
}
