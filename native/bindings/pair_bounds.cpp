// Bindings: upper limits of the scores of pairs.
#include "../pairwise/pair_bounds.hpp"

#include <memory>
#include <vector>

#include "pair_arguments.hpp"

using namespace nb::literals;

namespace tropalign {
namespace {

/// Checked sequences and pairs.
class Pairs {
  public:
    Pairs(const Column<uint8_t> &query_codes, const Column<int64_t> &query_offsets, const Column<uint8_t> &target_codes,
          const Column<int64_t> &target_offsets, const Column<int64_t> &query_index,
          const Column<int64_t> &target_index, int n_threads)
        : sets_(query_codes, query_offsets, target_codes, target_offsets) {
        require_threads(n_threads);
        request = {sets_.queries().sequences(),
                   sets_.targets().sequences(),
                   query_index.data(),
                   target_index.data(),
                   require_pairs(sets_, query_index, target_index),
                   n_threads};
    }
    int64_t longest() const { return sets_.longest(); }
    BoundRequest request;

  private:
    const OwnSets sets_;
};

Numpy<int32_t> score_bounds_of(Column<uint8_t> query_codes, Column<int64_t> query_offsets, Column<uint8_t> target_codes,
                               Column<int64_t> target_offsets, Column<int64_t> query_index,
                               Column<int64_t> target_index, Matrix matrix, int32_t gap_open, int32_t gap_extend,
                               const char *mode, bool pays_ends, int n_threads) {
    const Pairs pairs(query_codes, query_offsets, target_codes, target_offsets, query_index, target_index, n_threads);
    check_scoring(matrix, gap_open, gap_extend, pairs.longest());
    auto scoring = std::make_unique<Scoring>(mode_named(mode), Depth::score, matrix.data(), gap_open, gap_extend);
    std::vector<int32_t> bound(query_index.size());
    {
        nb::gil_scoped_release released;
        score_bounds(*scoring, pairs.request, pays_ends, bound.data());
    }
    return to_numpy(std::move(bound));
}

Numpy<int32_t> identity_bounds_of(Column<uint8_t> query_codes, Column<int64_t> query_offsets,
                                  Column<uint8_t> target_codes, Column<int64_t> target_offsets,
                                  Column<int64_t> query_index, Column<int64_t> target_index, int n_threads) {
    const Pairs pairs(query_codes, query_offsets, target_codes, target_offsets, query_index, target_index, n_threads);
    std::vector<int32_t> bound(query_index.size());
    {
        nb::gil_scoped_release released;
        identity_bounds(pairs.request, bound.data());
    }
    return to_numpy(std::move(bound));
}

}  // namespace
}  // namespace tropalign

void bind_pair_bounds(nb::module_ &m) {
    using namespace tropalign;
    m.def("score_bounds", &score_bounds_of, array("query_codes"), array("query_offsets"), array("target_codes"),
          array("target_offsets"), array("query_index"), array("target_index"), array("matrix"), "gap_open"_a,
          "gap_extend"_a, "mode"_a, "pays_ends"_a, "n_threads"_a, "Return an upper limit of the score of each pair.");
    m.def("identity_bounds", &identity_bounds_of, array("query_codes"), array("query_offsets"), array("target_codes"),
          array("target_offsets"), array("query_index"), array("target_index"), "n_threads"_a,
          "Return an upper limit of the number of columns of each pair with two equal residues.");
}
