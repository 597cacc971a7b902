// Bindings: k-mers that pairs of sequences have in common, and lower limits of their scores.
#include "../pairwise/shared_words.hpp"

#include <vector>

#include "../pairwise/pair_bounds.hpp"
#include "pair_arguments.hpp"

using namespace nb::literals;

namespace tropalign {
namespace {

/// Checked queries and targets whose k-mers are compared, and the shape of the result for all pairs.
struct WordSets {
    OwnSets sets;
    Sequences queries, targets;
    std::array<size_t, 2> shape;

    WordSets(const Column<uint8_t> &query_codes, const Column<int64_t> &query_offsets,
             const Column<uint8_t> &target_codes, const Column<int64_t> &target_offsets, int32_t word, int n_threads)
        : sets(query_codes, query_offsets, target_codes, target_offsets), queries(sets.queries().sequences()),
          targets(sets.targets().sequences()),
          shape{static_cast<size_t>(queries.count), static_cast<size_t>(targets.count)} {
        require_threads(n_threads);
        require(word >= 1 && word <= kLongestSharedWord, "word: below 1, or above 12");
        require(targets.count <= INT32_MAX, "target_offsets: more than 2147483647 sequences");
    }
};

Numpy<int32_t> shared_words_of(Column<uint8_t> query_codes, Column<int64_t> query_offsets, Column<uint8_t> target_codes,
                               Column<int64_t> target_offsets, int32_t word, int n_threads) {
    const WordSets of(query_codes, query_offsets, target_codes, target_offsets, word, n_threads);
    std::vector<int32_t> shared(of.shape[0] * of.shape[1]);
    {
        nb::gil_scoped_release released;
        shared_words(of.queries, of.targets, word, n_threads, shared.data());
    }
    return to_numpy(std::move(shared), of.shape);
}

Numpy<uint8_t> similar_by_words_of(Column<uint8_t> query_codes, Column<int64_t> query_offsets,
                                   Column<uint8_t> target_codes, Column<int64_t> target_offsets, int32_t word,
                                   double identity, double rounding, int n_threads) {
    const WordSets of(query_codes, query_offsets, target_codes, target_offsets, word, n_threads);
    require(identity >= 0 && identity <= 1, "identity: outside of 0 to 1");
    require(rounding >= 0 && rounding <= 1, "rounding: outside of 0 to 1");
    std::vector<uint8_t> similar(of.shape[0] * of.shape[1]);
    {
        nb::gil_scoped_release released;
        similar_by_words(of.queries, of.targets, word, identity, rounding, n_threads, similar.data());
    }
    return to_numpy(std::move(similar), of.shape);
}

Numpy<int32_t> score_floors_of(Column<uint8_t> query_codes, Column<int64_t> query_offsets, Column<uint8_t> target_codes,
                               Column<int64_t> target_offsets, Column<int64_t> query_index,
                               Column<int64_t> target_index, Column<int32_t> enough, Matrix matrix, int32_t gap_open,
                               int32_t gap_extend, int n_threads) {
    require_threads(n_threads);
    const OwnSets sets(query_codes, query_offsets, target_codes, target_offsets);
    const int64_t n_pairs = require_pairs(sets, query_index, target_index);
    require(enough.size() == query_index.size(), "enough: must have one per pair");
    check_scoring(matrix, gap_open, gap_extend, sets.longest());
    const BoundRequest request{sets.queries().sequences(),
                               sets.targets().sequences(),
                               query_index.data(),
                               target_index.data(),
                               n_pairs,
                               n_threads};
    std::vector<int32_t> floor(query_index.size());
    {
        nb::gil_scoped_release released;
        score_floors(matrix.data(), gap_open, gap_extend, request, enough.data(), floor.data());
    }
    return to_numpy(std::move(floor));
}

}  // namespace
}  // namespace tropalign

void bind_shared_words(nb::module_ &m) {
    using namespace tropalign;
    m.def("shared_words", &shared_words_of, array("query_codes"), array("query_offsets"), array("target_codes"),
          array("target_offsets"), "word"_a, "n_threads"_a,
          "Count the k-mers that each query and target have in common.");
    m.def("similar_by_words", &similar_by_words_of, array("query_codes"), array("query_offsets"), array("target_codes"),
          array("target_offsets"), "word"_a, "identity"_a, "rounding"_a, "n_threads"_a,
          "Find the pairs that may reach an identity, by their k-mers; see native/pairwise/shared_words.hpp.");
    m.def("score_floors", &score_floors_of, array("query_codes"), array("query_offsets"), array("target_codes"),
          array("target_offsets"), array("query_index"), array("target_index"), array("enough"), array("matrix"),
          "gap_open"_a, "gap_extend"_a, "n_threads"_a,
          "Return a lower limit of the score of each pair's global alignment.");
}
