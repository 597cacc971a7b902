// Bindings: scores of pairs with matrices that are adjusted to their compositions.
#include "../pairwise/adjusted.hpp"

#include <cmath>

#include "../pairwise/interface.hpp"
#include "pair_arguments.hpp"

using namespace nb::literals;

namespace tropalign {
namespace {

/// Maximum number of parts of a score unit.
constexpr int32_t kMostParts = 1 << 10;

AverageResidues residues_of(const Column<uint8_t> &codes, const Column<double> &shares) {
    require(codes.size() >= 2 && codes.size() < kLetters, "residues: must be 2 to 31 codes");
    require(codes.size() == shares.size(), "residues, shares: unequal lengths");
    require_codes(codes.data(), codes.size(), kPadCode, "residues");
    uint32_t seen = 0;
    double sum = 0;
    for (size_t k = 0; k < codes.size(); ++k) {
        const uint32_t bit = uint32_t{1} << codes.data()[k];
        require((seen & bit) == 0, "residues: a code occurs twice");
        require(shares.data()[k] > 0 && shares.data()[k] < 1, "shares: a share is not between 0 and 1");
        seen |= bit, sum += shares.data()[k];
    }
    require(std::abs(sum - 1) < 1e-6, "shares: their sum is not 1");
    return {{codes.data(), codes.data() + codes.size()}, {shares.data(), shares.data() + shares.size()}};
}

/// Return the adjustment of the matrices of pairs, checked for sequences as long as the longest of the sets.
Adjustment adjustment_of(const OwnSets &sets, const Matrix &matrix, int32_t gap_open, int32_t gap_extend, double lambda,
                         double entropy, double pseudocounts, int32_t parts) {
    require(parts >= 1 && parts <= kMostParts, "parts: outside of 1 to 1024");
    require(lambda > 0 && lambda <= 100, "lambda: not above 0, or beyond 100");
    require(entropy > 0 && entropy <= 100, "entropy: not above 0, or beyond 100");
    require(pseudocounts > 0 && pseudocounts <= 1e6, "pseudocounts: not above 0, or beyond 1000000");
    check_scoring(matrix, gap_open, gap_extend, kMostStretch * parts * sets.longest());
    return {matrix.data(), gap_open, gap_extend, lambda, entropy, pseudocounts, parts};
}

TileRequest pairs_of(const OwnSets &sets, const Column<int64_t> &query_index, const Column<int64_t> &target_index) {
    TileRequest request{};
    request.queries = sets.queries().sequences(), request.targets = sets.targets().sequences();
    request.query_index = query_index.data(), request.target_index = target_index.data();
    request.n_pairs = require_pairs(sets, query_index, target_index);
    return request;
}

Dict adjusted_scores_of(Column<uint8_t> query_codes, Column<int64_t> query_offsets, Column<uint8_t> target_codes,
                        Column<int64_t> target_offsets, Column<int64_t> query_index, Column<int64_t> target_index,
                        Matrix matrix, int32_t gap_open, int32_t gap_extend, Column<uint8_t> residues,
                        Column<double> shares, double lambda, double entropy, double pseudocounts, int32_t parts,
                        int n_threads, int64_t memory_bytes, Progress progress) {
    const OwnSets sets(query_codes, query_offsets, target_codes, target_offsets);
    require_threads(n_threads);
    require_progress(progress);
    require(memory_bytes > 0, "memory_bytes: not above 0");
    const Adjustment how = adjustment_of(sets, matrix, gap_open, gap_extend, lambda, entropy, pseudocounts, parts);
    const AverageResidues known = residues_of(residues, shares);
    TileRequest request = pairs_of(sets, query_index, target_index);
    request.n_threads = n_threads, request.memory_bytes = memory_bytes;
    PythonPoll poll(progress);
    AdjustedScores found;
    {
        nb::gil_scoped_release released;
        found = adjusted_scores(*selected_kernels(), known, how, request, std::ref(poll));
    }
    poll.rethrow();
    nb::dict out;
    out["score"] = to_numpy(std::move(found.score));
    out["is_adjusted"] = to_numpy(std::move(found.is_adjusted));
    return out;
}

Dict adjusted_matrices_of(Column<uint8_t> query_codes, Column<int64_t> query_offsets, Column<uint8_t> target_codes,
                          Column<int64_t> target_offsets, Column<int64_t> query_index, Column<int64_t> target_index,
                          Matrix matrix, int32_t gap_open, int32_t gap_extend, Column<uint8_t> residues,
                          Column<double> shares, double lambda, double entropy, double pseudocounts, int32_t parts) {
    const OwnSets sets(query_codes, query_offsets, target_codes, target_offsets);
    const Adjustment how = adjustment_of(sets, matrix, gap_open, gap_extend, lambda, entropy, pseudocounts, parts);
    const AverageResidues known = residues_of(residues, shares);
    const TileRequest request = pairs_of(sets, query_index, target_index);
    AdjustedMatrices found;
    {
        nb::gil_scoped_release released;
        found = adjusted_matrices(known, how, request);
    }
    const std::array<size_t, 3> shape{static_cast<size_t>(request.n_pairs), kLetters, kLetters};
    nb::dict out;
    out["matrix"] = to_numpy(std::move(found.matrix), shape);
    out["is_adjusted"] = to_numpy(std::move(found.is_adjusted));
    return out;
}

}  // namespace
}  // namespace tropalign

void bind_adjusted(nb::module_ &m) {
    using namespace tropalign;
    m.def("adjusted_scores", &adjusted_scores_of, array("query_codes"), array("query_offsets"), array("target_codes"),
          array("target_offsets"), array("query_index"), array("target_index"), array("matrix"), "gap_open"_a,
          "gap_extend"_a, array("residues"), array("shares"), "lambda_"_a, "entropy"_a, "pseudocounts"_a, "parts"_a,
          "n_threads"_a, "memory_bytes"_a, "progress"_a.none() = nb::none(),
          "Compute local scores with a matrix per pair, in parts of a unit; see tropalign.pairwise.composition.");
    m.def("adjusted_matrices", &adjusted_matrices_of, array("query_codes"), array("query_offsets"),
          array("target_codes"), array("target_offsets"), array("query_index"), array("target_index"), array("matrix"),
          "gap_open"_a, "gap_extend"_a, array("residues"), array("shares"), "lambda_"_a, "entropy"_a, "pseudocounts"_a,
          "parts"_a, "Return the matrices of some pairs, in parts of a unit.");
}
