// Bindings: targets aligned to a model, and the columns of their residues.
#include <algorithm>
#include <cmath>
#include <functional>

#include "../profiles/envelope.hpp"
#include "../profiles/target_alignment.hpp"
#include "check.hpp"
#include "checked_model.hpp"
#include "checked_targets.hpp"

using namespace nb::literals;

namespace tropalign {
namespace {

template <class T>
using Output = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

void require_targets(const TargetBlock &block, const Targets &targets, const Output<int32_t> &places,
                     const Output<float> &posteriors) {
    size_t n_residues = 0;
    if (block.size())
        n_residues = static_cast<size_t>(block.codes(block.size() - 1) - block.codes(0)) +
                     static_cast<size_t>(block.length(block.size() - 1));
    require(places.size() == n_residues, "places: must have one per residue of the block");
    require(posteriors.size() == n_residues, "posteriors: must have one per residue of the block");
    for (const int32_t target : targets) require(block.length(target) > 0, "targets: a sequence is empty");
}

Numpy<int32_t> align(const AlignmentModel &model, const TargetBlock &block, Column<int32_t> targets,
                     Output<int32_t> places, Output<float> posteriors, int n_threads, Progress progress) {
    require_threads(n_threads);
    require_progress(progress);
    const Targets chosen = checked_targets(block, targets);
    require_targets(block, chosen, places, posteriors);
    std::vector<int32_t> dropped;
    PythonPoll poll(progress);
    {
        nb::gil_scoped_release released;
        align_targets(model.model, block, chosen, n_threads, {places.data(), posteriors.data()}, dropped,
                      std::ref(poll));
    }
    poll.rethrow();
    return to_numpy(std::move(dropped));
}

void make_model(AlignmentModel *self, Array<float, 2> match, Array<float, 2> transitions, Column<float> background) {
    const size_t places = match.shape(0), n_residues = match.shape(1);
    require(places >= 2 && places <= kMostNodes + 1, "match: must have 1 to 1000000 nodes, and a row before them");
    require(n_residues == kResidues || n_residues == kBases, "match: must have 20 or 4 residues per node");
    require(transitions.shape(0) == places && transitions.shape(1) == 7, "transitions: must have 7 per row of match");
    require(background.size() == n_residues, "background: must have one per residue");
    require_probabilities(match.data(), match.size(), "match");
    require_probabilities(transitions.data(), transitions.size(), "transitions");
    require_background(background);
    const auto M = static_cast<int32_t>(places - 1);
    nb::gil_scoped_release released;
    new (self) AlignmentModel(
        M, make_profile_scores(M, static_cast<int>(n_residues), match.data(), transitions.data(), background.data()));
}

void align_in_logs(const AlignmentModel &model, const TargetBlock &block, Column<int32_t> targets,
                   Output<int32_t> places, Output<float> posteriors, int n_threads, Progress progress) {
    require_threads(n_threads);
    require_progress(progress);
    const Targets chosen = checked_targets(block, targets);
    require_targets(block, chosen, places, posteriors);
    PythonPoll poll(progress);
    {
        nb::gil_scoped_release released;
        align_targets_in_logs(model.scores, block, chosen, n_threads, {places.data(), posteriors.data()},
                              std::ref(poll));
    }
    poll.rethrow();
}

size_t thread_bytes(const AlignmentModel &model, int32_t length) { return envelope_bytes(model.model, length); }

std::span<const int32_t> checked_places(const Column<int32_t> &places, const Column<int64_t> &offsets, size_t n_nodes) {
    require_offsets(offsets.data(), static_cast<int64_t>(offsets.size()), static_cast<int64_t>(places.size()),
                    "offsets");
    const auto most = static_cast<int32_t>(n_nodes);
    const bool good = std::all_of(places.data(), places.data() + places.size(),
                                  [&](int32_t place) { return place >= -most && place <= most; });
    require(good, "places: a node is not in the model");
    return {places.data(), places.size()};
}

Numpy<int32_t> widths_of(Column<int32_t> places, Column<int64_t> offsets, int32_t n_nodes) {
    require(n_nodes >= 1, "n_nodes: below 1");
    const auto checked = checked_places(places, offsets, static_cast<size_t>(n_nodes));
    std::vector<int32_t> widths(static_cast<size_t>(n_nodes) + 1);
    {
        nb::gil_scoped_release released;
        widen_inserts(checked, {offsets.data(), offsets.size()}, widths);
    }
    return to_numpy(std::move(widths));
}

Numpy<int32_t> columns_of(Column<int32_t> places, Column<int64_t> offsets, Column<int32_t> widths, bool is_trimmed) {
    require(widths.size() >= 2, "widths: must have at least one node");
    const auto checked = checked_places(places, offsets, widths.size() - 1);
    const std::span<const int64_t> bounds(offsets.data(), offsets.size());
    const std::span<const int32_t> given(widths.data(), widths.size());
    std::vector<int32_t> least(widths.size());
    widen_inserts(checked, bounds, least);
    for (size_t k = 0; k < least.size(); ++k) require(least[k] <= given[k], "widths: an insertion is longer");
    std::vector<int32_t> columns(places.size());
    {
        nb::gil_scoped_release released;
        columns_of_places(checked, bounds, given, is_trimmed, columns.data());
    }
    return to_numpy(std::move(columns));
}

}  // namespace
}  // namespace tropalign

void bind_profile_alignment(nb::module_ &m) {
    using namespace tropalign;
    nb::class_<AlignmentModel>(m, "AlignmentModel", "A model of proteins or nucleotides to which targets are aligned.")
        .def("__init__", &make_model, array("match"), array("transitions"), array("background"));
    m.def("align_targets", &align, "model"_a, "block"_a, array("targets"), array("places"), array("posteriors"),
          "n_threads"_a, "progress"_a = nb::none(),
          "Write the position of each residue of the targets and its posterior (native/profiles/target_alignment.hpp); "
          "returns the targets that left the range of floats, int32.");
    m.def("align_targets_in_logs", &align_in_logs, "model"_a, "block"_a, array("targets"), array("places"),
          array("posteriors"), "n_threads"_a, "progress"_a = nb::none(),
          "Write positions and posteriors of targets, computed in logarithms, whose range no target exceeds.");
    m.def("target_alignment_bytes", &thread_bytes, "model"_a, "length"_a,
          "Return the maximum memory of a thread of align_targets for a target of this length.");
    m.def("insert_widths", &widths_of, array("places"), array("offsets"), "n_nodes"_a,
          "Return the maximum number of residues of a sequence after each node, int32 (n_nodes + 1,), starting with "
          "those before the first node.");
    m.def("columns_of_places", &columns_of, array("places"), array("offsets"), array("widths"), "is_trimmed"_a,
          "Return the column of each residue, int32; -1 if it is left out.");
    m.def(
        "alignment_checksum", [](Column<uint8_t> codes) { return alignment_checksum({codes.data(), codes.size()}); },
        array("codes"), "Return HMMER's checksum of the codes of an alignment, row after row.");
}
