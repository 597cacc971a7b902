// Bindings: conversion of the results of a GPU's filters to scores.
#include <algorithm>
#include <limits>

#include "../profiles/lengths.hpp"
#include "../profiles/msv.hpp"
#include "../profiles/viterbi.hpp"
#include "check.hpp"

using namespace nb::literals;

namespace tropalign {
namespace {

using Bytes = Column<uint8_t>;

Targets ascending(const TargetBlock &block, const Column<int32_t> &targets) {
    require_below(targets.data(), targets.size(), block.size(), "targets");
    for (size_t k = 1; k < targets.size(); ++k)
        require(block.length(targets.data()[k - 1]) <= block.length(targets.data()[k]),
                "targets: must be in order of ascending length");
    return {targets.data(), targets.size()};
}

using MsvOfPython = nb::typed<nb::callable, Numpy<uint8_t>(Numpy<int32_t>, Numpy<uint8_t>)>;

/// Wrap the Python function msv(targets, enter), which returns the highest M of each target.
MsvOfMany msv_of_python(const MsvOfPython &msv) {
    return [&msv](Targets targets, const uint8_t *enter, uint8_t *highest) {
        std::vector<int32_t> indices(targets.begin(), targets.end());
        const nb::object found =
            msv(to_numpy(std::move(indices)), to_numpy(std::vector<uint8_t>(enter, enter + targets.size())));
        Bytes bytes;
        require(nb::try_cast(found, bytes, false) && bytes.size() == targets.size(),
                "msv: must return a byte per target");
        std::copy_n(bytes.data(), bytes.size(), highest);
    };
}

Tuple<Numpy<int32_t>, Numpy<float>> msv_filter_of_highest(const SearchModel &model, const TargetBlock &block,
                                                          Column<int32_t> targets, Bytes highest, double F1,
                                                          MsvOfPython msv) {
    const Targets chosen = ascending(block, targets);
    require(highest.size() == chosen.size(), "highest: must have one per target");
    require(F1 >= 0, "F1: must be a P-value");
    std::vector<int32_t> passed;
    std::vector<float> nats;
    msv_filter_by(model.plain(), block, chosen, highest.data(), F1, msv_of_python(msv), passed, nats);
    return nb::make_tuple(to_numpy(std::move(passed)), to_numpy(std::move(nats)));
}

Numpy<int32_t> word_moves_of(const TargetBlock &block, Column<int32_t> targets) {
    require_below(targets.data(), targets.size(), block.size(), "targets");
    std::vector<int32_t> moves;
    for (size_t k = 0; k < targets.size(); ++k) moves.push_back(word_move(block.length(targets.data()[k])));
    return to_numpy(std::move(moves));
}

Numpy<float> viterbi_scores_of_highest(const TargetBlock &block, Column<int32_t> targets, Column<int32_t> highest) {
    require_below(targets.data(), targets.size(), block.size(), "targets");
    require(highest.size() == targets.size(), "highest: must have one per target");
    std::vector<float> nats;
    for (size_t k = 0; k < targets.size(); ++k)
        nats.push_back(viterbi_nats(highest.data()[k], block.length(targets.data()[k])));
    return to_numpy(std::move(nats));
}

}  // namespace
}  // namespace tropalign

void bind_profile_gpu(nb::module_ &m) {
    using namespace tropalign;
    m.def("msv_filter_of_highest", &msv_filter_of_highest, "model"_a, "block"_a, array("targets"), array("highest"),
          "F1"_a, "msv"_a,
          "Like msv_filter, from the highest V of each target; msv(targets, enter) returns MSV's highest M.");
    m.def("word_moves", &word_moves_of, "block"_a, array("targets"),
          "Return the Viterbi score of N, J -> B of each target.");
    m.def("viterbi_scores_of_highest", &viterbi_scores_of_highest, "block"_a, array("targets"), array("highest"),
          "Compute Viterbi scores in nats from the highest M of each target.");
}
