// Bindings: native/msa/posteriors, from pairs to sparse rows; parameters and names are in tropalign.msa.models.
#include <nanobind/stl/tuple.h>

#include <cmath>

#include "../msa/posterior_unit.hpp"
#include "../msa/posteriors.hpp"
#include "../msa/sparse.hpp"
#include "check.hpp"

using namespace nb::literals;

namespace tropalign {
namespace {

using SquareTable = Array<double, 2>;

void require_square(const SquareTable &table, size_t n, bool above_zero, const char *name) {
    if (table.shape(0) != n || table.shape(1) != n)
        refuse(std::string(name) + ": not " + std::to_string(n) + " by " + std::to_string(n));
    for (size_t k = 0; k < n * n; ++k)
        if (!std::isfinite(table.data()[k]) || table.data()[k] < 0 || (above_zero && table.data()[k] == 0))
            refuse(std::string(name) + ": a number is not finite and above 0");
}

/// Limit the growth of numbers: kernels scale them by powers of two at least after every second row.
void require_growth(const double *match, const double *insert, const double *boltzmann, size_t n) {
    constexpr double most = 1 << 20;
    for (size_t a = 0; a < n; ++a)
        for (size_t b = 0; b < n; ++b) {
            require(match[a * n + b] <= most * insert[a] * insert[b],
                    "match: more than 1048576 times as likely as insertions");
            require(boltzmann[a * n + b] <= most, "boltzmann: a number is above 1048576");
        }
}

void require_transitions(const Column<double> &transitions) {
    require(transitions.size() == 8, "transitions: must have 8 numbers");
    const double *t = transitions.data();
    for (int k = 0; k < 7; ++k) require(t[k] > 0 && t[k] < 1, "transitions: a probability is not between 0 and 1");
    require(t[7] >= 0 && t[7] < 1, "transitions: the weight of an overhang is not from 0 to 1");
    require(2 * t[3] + 2 * t[4] < 1, "transitions: the gap openings leave no probability for matches");
}

void require_sequence_pairs(const Array<int32_t, 2> &pairs, int64_t n_sequences) {
    require(pairs.shape(1) == 2, "pairs: must have two columns");
    require_below(pairs.data(), pairs.size(), n_sequences, "pairs");
    for (size_t k = 0; k < pairs.shape(0); ++k)
        require(pairs.data()[2 * k] != pairs.data()[2 * k + 1], "pairs: a sequence is paired with itself");
}

Tuple<Numpy<float>, Numpy<uint16_t>, Numpy<uint16_t>, Numpy<uint16_t>> pair_posteriors_of_arrays(
    Column<uint8_t> codes, Column<int64_t> offsets, Array<int32_t, 2> pairs, Column<double> transitions,
    SquareTable match, Column<double> insert, SquareTable boltzmann, Column<double> gap, float hmm_share, float cutoff,
    float keep, int n_threads, Progress progress) {
    require_threads(n_threads);
    require_progress(progress);
    const auto n_entries = static_cast<int64_t>(offsets.size());
    require_offsets(offsets.data(), n_entries, static_cast<int64_t>(codes.size()), "offsets");
    require_no_empty(offsets.data(), n_entries, "offsets");
    if (longest_of(offsets.data(), n_entries, "offsets") > kLongestResidues)
        refuse("offsets: a sequence is longer than " + std::to_string(kLongestResidues));
    require_sequence_pairs(pairs, n_entries - 1);
    const size_t n_letters = insert.size();
    require(n_letters >= 1 && n_letters <= kPosteriorPad, "insert: must have 1 to 31 numbers");
    require_codes(codes.data(), codes.size(), static_cast<int>(n_letters), "codes");
    for (size_t k = 0; k < n_letters; ++k)
        require(insert.data()[k] > 0 && insert.data()[k] <= 1, "insert: a probability is not within 0 and 1");
    require_transitions(transitions);
    require_square(match, n_letters, false, "match");
    require_square(boltzmann, n_letters, true, "boltzmann");
    require_growth(match.data(), insert.data(), boltzmann.data(), n_letters);
    require(gap.size() == 2, "gap: must have 2 numbers");
    for (int k = 0; k < 2; ++k) require(gap.data()[k] > 0 && gap.data()[k] <= 1, "gap: a weight is not within 0 and 1");
    require(hmm_share >= 0 && hmm_share <= 1, "hmm_share: must be from 0 to 1");
    require(cutoff >= 0 && cutoff <= 1, "cutoff: must be from 0 to 1");
    require(keep >= 0 && keep <= 1, "keep: must be from 0 to 1");
    const PosteriorModel model = posterior_model(static_cast<int>(n_letters), transitions.data(), match.data(),
                                                 insert.data(), boltzmann.data(), gap.data(), hmm_share);
    const PosteriorRequest request{
        codes.data(), offsets.data(), n_entries - 1, pairs.data(), static_cast<int64_t>(pairs.shape(0)),
        cutoff,       keep,           n_threads};
    const PosteriorKernels &kernels = *selected_posterior_kernels();
    PythonPoll poll(progress);
    PosteriorColumns columns;
    {
        nb::gil_scoped_release released;
        pair_posteriors(kernels, model, request, std::ref(poll), columns);
    }
    poll.rethrow();
    return nb::make_tuple(to_numpy(std::move(columns.distance)), to_numpy(std::move(columns.row_sizes)),
                          to_numpy(std::move(columns.columns)), to_numpy(std::move(columns.values)));
}

size_t posterior_scratch_bytes_of_lengths(int64_t length_x, int64_t length_y) {
    require(length_x >= 1 && length_x <= kLongestResidues, "length_x: must be 1 to 65535");
    require(length_y >= 1 && length_y <= kLongestResidues, "length_y: must be 1 to 65535");
    return posterior_scratch_bytes(static_cast<int32_t>(length_x), static_cast<int32_t>(length_y));
}

}  // namespace
}  // namespace tropalign

void bind_msa_posteriors(nb::module_ &m) {
    using namespace tropalign;
    m.def("pair_posteriors", &pair_posteriors_of_arrays, array("codes"), array("offsets"), array("pairs"),
          array("transitions"), array("match"), array("insert"), array("boltzmann"), array("gap"), "hmm_share"_a,
          "cutoff"_a, "keep"_a, "n_threads"_a, "progress"_a.none() = nb::none(),
          "Compute posteriors of each pair as sparse rows, and its distance; see tropalign.msa.models.");
    m.def("posterior_scratch_bytes", &posterior_scratch_bytes_of_lengths, "length_x"_a, "length_y"_a,
          "Return the maximum memory of a thread of pair_posteriors, excluding its results, for the two longest "
          "lengths.");
}
