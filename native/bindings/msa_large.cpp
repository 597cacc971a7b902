// Bindings: additional stages for large families; names and validation are in tropalign.msa.
#include <algorithm>
#include <cmath>
#include <optional>

#include "../msa/certain.hpp"
#include "../msa/lcs.hpp"
#include "../msa/pooled.hpp"
#include "../msa/sparse.hpp"
#include "check.hpp"

using namespace nb::literals;

namespace tropalign {
namespace {

LcsSequences lcs_sequences_of(const Array<uint8_t, 1> &codes, const Array<int64_t, 1> &offsets, int n_codes) {
    const auto n_entries = static_cast<int64_t>(offsets.size());
    require_offsets(offsets.data(), n_entries, static_cast<int64_t>(codes.size()), "offsets");
    longest_of(offsets.data(), n_entries, "offsets");
    require_no_empty(offsets.data(), n_entries, "offsets");
    require_codes(codes.data(), codes.size(), kLcsCodes, "codes");
    require(n_codes >= 1 && n_codes <= kLcsCodes, "n_codes: outside of 1 to 128");
    return {codes.data(), offsets.data()};
}

std::vector<int32_t> chosen_of(const Array<int32_t, 1> &chosen, int64_t n, const char *name) {
    require_below(chosen.data(), chosen.size(), n, name);
    return {chosen.data(), chosen.data() + chosen.size()};
}

Numpy<int32_t> lengths(Array<uint8_t, 1> codes, Array<int64_t, 1> offsets, int n_codes, Array<int32_t, 1> rows,
                       Array<int32_t, 1> columns, int n_threads, Progress progress,
                       std::optional<Array<uint8_t, 2>> wanted) {
    require_threads(n_threads);
    require_progress(progress);
    const LcsSequences sequences = lcs_sequences_of(codes, offsets, n_codes);
    const auto n = static_cast<int64_t>(offsets.size()) - 1;
    const std::vector<int32_t> of_rows = chosen_of(rows, n, "rows"), of_columns = chosen_of(columns, n, "columns");
    require(!wanted || (wanted->shape(0) == of_rows.size() && wanted->shape(1) == of_columns.size()),
            "wanted: must have an entry per row and column");
    std::vector<int32_t> out(of_rows.size() * of_columns.size());
    PythonPoll poll(progress);
    {
        nb::gil_scoped_release released;
        lcs_lengths(sequences, n_codes, of_rows, of_columns, wanted ? wanted->data() : nullptr, n_threads, out.data(),
                    std::ref(poll));
    }
    poll.rethrow();
    return to_numpy(std::move(out), std::array<size_t, 2>{of_rows.size(), of_columns.size()});
}

Numpy<float> distances(Array<uint8_t, 1> codes, Array<int64_t, 1> offsets, int n_codes, Array<float, 1> share,
                       int n_threads, Progress progress) {
    require_threads(n_threads);
    require_progress(progress);
    const LcsSequences sequences = lcs_sequences_of(codes, offsets, n_codes);
    require(share.size() == LcsChance::kBins, "share: must have 32 numbers");
    LcsChance chance;
    for (size_t k = 0; k < share.size(); ++k) {
        require(share(k) >= 0 && share(k) < 1, "share: a number is outside of 0 to 1");
        chance.share[k] = share(k);
    }
    const auto n = static_cast<int64_t>(offsets.size()) - 1;
    require(n <= kLcsMostSequences, "offsets: too many sequences to compare all pairs");
    std::vector<float> out(n > 1 ? n * (n - 1) / 2 : 0);
    PythonPoll poll(progress);
    {
        nb::gil_scoped_release released;
        lcs_distances(sequences, n, n_codes, chance, n_threads, out.data(), std::ref(poll));
    }
    poll.rethrow();
    return to_numpy(std::move(out));
}

Tuple<Numpy<int32_t>, Numpy<int32_t>, Numpy<uint8_t>> certain(Array<uint8_t, 1> codes, Array<int64_t, 1> offsets, int x,
                                                              Array<int32_t, 1> ys, Array<int32_t, 1> most,
                                                              Array<int32_t, 2> pair, Array<int32_t, 1> gap,
                                                              Array<int32_t, 1> end, int open, int slack, int n_threads,
                                                              Progress progress) {
    require_threads(n_threads);
    require_progress(progress);
    const auto n_entries = static_cast<int64_t>(offsets.size());
    require_offsets(offsets.data(), n_entries, static_cast<int64_t>(codes.size()), "offsets");
    require(longest_of(offsets.data(), n_entries, "offsets") <= kLongestCertain,
            "offsets: a sequence is longer than 4000000");
    require_no_empty(offsets.data(), n_entries, "offsets");
    const auto n_codes = static_cast<int>(std::min<size_t>(gap.size(), kCertainCodes + 1));
    require(n_codes >= 1 && n_codes <= kCertainCodes, "gap: must have 1 to 32 numbers");
    require(end.size() == gap.size(), "end: must have as many numbers as gap");
    require(pair.shape(0) == gap.size() && pair.shape(1) == gap.size(), "pair: must have a row and column per code");
    require_below(pair.data(), pair.size(), kMostLoss + 1, "pair");
    require_below(gap.data(), gap.size(), kMostLoss + 1, "gap");
    require_below(end.data(), end.size(), kMostLoss + 1, "end");
    for (size_t code = 0; code < gap.size(); ++code)
        require(gap(code) >= end(code), "end: a number is greater than that of gap");
    require(open >= 0 && open <= kMostLoss, "open: outside of 0 to 2000");
    require(slack >= 0 && slack <= kMostLoss, "slack: outside of 0 to 2000");
    require_codes(codes.data(), codes.size(), n_codes, "codes");
    require(x >= 0 && x < n_entries - 1, "x: not the index of a sequence");
    require_below(ys.data(), ys.size(), n_entries - 1, "ys");
    require(most.size() == ys.size(), "most: must have a number per pair");
    require_below(most.data(), most.size(), kNoLoss, "most");
    const Losses losses{pair.data(), gap.data(), end.data(), n_codes, open, slack};
    const auto m = static_cast<size_t>(offsets(x + 1) - offsets(x));
    std::vector<int32_t> loss(ys.size()), column(ys.size() * m);
    std::vector<uint8_t> is_certain(ys.size() * m);
    const CertainRequest request{codes.data(), offsets.data(), x,
                                 ys.data(),    most.data(),    static_cast<int64_t>(ys.size())};
    PythonPoll poll(progress);
    {
        nb::gil_scoped_release released;
        certain_pairs(request, losses, n_threads, loss.data(), column.data(), is_certain.data(), std::ref(poll));
    }
    poll.rethrow();
    const std::array<size_t, 2> shape{ys.size(), m};
    return nb::make_tuple(to_numpy(std::move(loss)), to_numpy(std::move(column), shape),
                          to_numpy(std::move(is_certain), shape));
}

/// Starts of the rows and elements of each pair; checked_pairs checks that they are complete and within the
/// lengths.
struct PairBegins {
    std::vector<int64_t> rows{0}, elements{0};
};
PairBegins checked_pairs(const Array<int32_t, 2> &pairs, const Array<uint16_t, 1> &row_sizes,
                         const Array<uint16_t, 1> &columns, const Array<uint16_t, 1> &values, const int64_t *offsets,
                         int64_t n) {
    require(pairs.shape(1) == 2, "pairs: must have two numbers each");
    require_below(pairs.data(), pairs.size(), n, "pairs");
    require(columns.size() == values.size(), "columns, values: unequal lengths");
    PairBegins begins;
    const auto n_rows = static_cast<int64_t>(row_sizes.size()), n_elements = static_cast<int64_t>(columns.size());
    for (size_t k = 0; k < pairs.shape(0); ++k) {
        const int64_t x = pairs(k, 0), y = pairs(k, 1), row = begins.rows.back();
        const int64_t row_end = row + offsets[x + 1] - offsets[x];
        require(row_end <= n_rows, "row_sizes: fewer than residues of the pairs' first sequences");
        int64_t element = begins.elements.back();
        const int64_t first = element;
        for (int64_t i = row; i < row_end; ++i) element += row_sizes.data()[i];
        require(element <= n_elements, "columns: fewer than the row sizes require");
        require_below(columns.data() + first, element - first, offsets[y + 1] - offsets[y], "columns");
        begins.rows.push_back(row_end);
        begins.elements.push_back(element);
    }
    require(begins.rows.back() == n_rows, "row_sizes: more than residues of the pairs' first sequences");
    require(begins.elements.back() == n_elements, "columns: more than the row sizes require");
    return begins;
}

Tuple<Numpy<uint16_t>, Numpy<uint16_t>, Numpy<uint16_t>> pooled(Array<int32_t, 2> pairs, Array<uint16_t, 1> row_sizes,
                                                                Array<uint16_t, 1> columns, Array<uint16_t, 1> values,
                                                                Array<int64_t, 1> offsets, Array<uint16_t, 1> column_of,
                                                                Array<int64_t, 1> begins, Array<int32_t, 1> n_rows,
                                                                Array<int32_t, 1> n_columns, double cutoff,
                                                                int n_threads, Progress progress) {
    require_threads(n_threads);
    require_progress(progress);
    const auto n_entries = static_cast<int64_t>(offsets.size()), n_pairs = static_cast<int64_t>(pairs.shape(0));
    require_offsets(offsets.data(), n_entries, static_cast<int64_t>(column_of.size()), "offsets");
    longest_of(offsets.data(), n_entries, "offsets");
    const PairBegins at = checked_pairs(pairs, row_sizes, columns, values, offsets.data(), n_entries - 1);
    require_offsets(begins.data(), static_cast<int64_t>(begins.size()), n_pairs, "begins");
    const auto n_groups = static_cast<int64_t>(begins.size()) - 1;
    require(begins(0) == 0 && begins(n_groups) == n_pairs, "begins: must start and end with the pairs");
    require(n_rows.size() == static_cast<size_t>(n_groups) && n_columns.size() == n_rows.size(),
            "n_rows, n_columns: must have a number per pair of groups");
    require(cutoff >= 0 && cutoff <= 1, "cutoff: outside of 0 to 1");
    for (int64_t g = 0; g < n_groups; ++g) {
        require(
            n_rows(g) >= 0 && n_columns(g) >= 0 && n_rows(g) <= kLongestResidues && n_columns(g) <= kLongestResidues,
            "n_rows, n_columns: outside of 0 to 65535");
        for (int64_t k = begins(g); k < begins(g + 1); ++k) {
            for (int side = 0; side < 2; ++side) {
                const int64_t begin = offsets(pairs(k, side)), end = offsets(pairs(k, side) + 1);
                const int32_t size = side ? n_columns(g) : n_rows(g);
                bool ascends = true;
                for (int64_t r = begin + 1; r < end; ++r) ascends &= column_of(r - 1) < column_of(r);
                require(ascends && (begin == end || column_of(end - 1) < size),
                        "column_of: columns of a sequence descend, or reach beyond its group");
            }
        }
    }
    PooledPosteriors out;
    PythonPoll poll(progress);
    {
        nb::gil_scoped_release released;
        const PairPosteriors posteriors{n_pairs,       pairs.data(),   row_sizes.data(),  columns.data(),
                                        values.data(), at.rows.data(), at.elements.data()};
        pool_posteriors(posteriors, {offsets.data(), column_of.data()},
                        {n_groups, begins.data(), n_rows.data(), n_columns.data()},
                        static_cast<int>(std::lround(cutoff * kPosteriorOne)), n_threads, out, std::ref(poll));
    }
    poll.rethrow();
    return nb::make_tuple(to_numpy(std::move(out.row_sizes)), to_numpy(std::move(out.columns)),
                          to_numpy(std::move(out.values)));
}

}  // namespace
}  // namespace tropalign

void bind_msa_large(nb::module_ &m) {
    using namespace tropalign;
    m.def("lcs_lengths", &lengths, array("codes"), array("offsets"), "n_codes"_a, array("rows"), array("columns"),
          "n_threads"_a, "progress"_a.none() = nb::none(), array("wanted").none() = nb::none(),
          "Compute lengths of longest common subsequences of some sequences with others; see native/msa/lcs.hpp.");
    m.def("lcs_distances", &distances, array("codes"), array("offsets"), "n_codes"_a, array("share"), "n_threads"_a,
          "progress"_a.none() = nb::none(),
          "Compute distances of all pairs in the order (0,1), (0,2) .. (1,2) ..; see native/msa/lcs.hpp.");
    m.def(
        "certain_pairs", &certain, array("codes"), array("offsets"), "x"_a, array("ys"), array("most"), array("pair"),
        array("gap"), array("end"), "open"_a, "slack"_a, "n_threads"_a, "progress"_a.none() = nb::none(),
        "Compute lowest losses of pairs, and the residues that all good alignments pair; see native/msa/certain.hpp.");
    m.def("pool_posteriors", &pooled, array("pairs"), array("row_sizes"), array("columns"), array("values"),
          array("offsets"), array("column_of"), array("begins"), array("n_rows"), array("n_columns"), "cutoff"_a,
          "n_threads"_a, "progress"_a.none() = nb::none(),
          "Compute posteriors of aligned groups from those of their members; see native/msa/pooled.hpp.");
}
