// Bindings: the single filters of a search.
#include <algorithm>
#include <cmath>

#include "../profiles/bias.hpp"
#include "../profiles/msv.hpp"
#include "../profiles/p_values.hpp"
#include "../profiles/viterbi.hpp"
#include "checked_targets.hpp"

using namespace nb::literals;

namespace tropalign {
namespace {

template <class Stage>
Numpy<float> scores_by(const TargetBlock &block, const Column<int32_t> &targets, Stage stage) {
    const Targets chosen = checked_targets(block, targets);
    std::vector<float> nats(chosen.size());
    {
        nb::gil_scoped_release released;
        stage(chosen, nats.data());
    }
    return to_numpy(std::move(nats));
}

using Scores = void(const SearchModel &, const TargetBlock &, Targets, float *);

/// Return the scores of one filter.
template <Scores *filter>
Numpy<float> scores(const SearchModel &model, const TargetBlock &block, Column<int32_t> targets) {
    return scores_by(block, targets, [&](Targets chosen, float *nats) { filter(model, block, chosen, nats); });
}

using ArrangedScores = void(const SearchModel &, const TargetBlock &, Targets, int, float *);

/// Return the scores of one arrangement of lanes.
template <ArrangedScores *filter, int (*n_arrangements)()>
Numpy<float> arranged_scores(const SearchModel &model, const TargetBlock &block, Column<int32_t> targets,
                             int arrangement) {
    require(arrangement >= 0 && arrangement < n_arrangements(), "arrangement: does not exist");
    return scores_by(block, targets,
                     [&](Targets chosen, float *nats) { filter(model, block, chosen, arrangement, nats); });
}

Numpy<float> logarithms(Column<float> values) {
    const bool good =
        std::all_of(values.data(), values.data() + values.size(), [](float x) { return std::isnormal(x) && x > 0; });
    require(good, "values: a number is not positive and normal");
    std::vector<float> made(values.data(), values.data() + values.size());
    bias_logarithms(made.data(), made.size());
    return to_numpy(std::move(made));
}

Tuple<Numpy<int32_t>, Numpy<float>> msv_filter_of(const SearchModel &model, const TargetBlock &block,
                                                  Column<int32_t> targets, double F1) {
    const Targets chosen = checked_targets(block, targets);
    for (size_t k = 1; k < chosen.size(); ++k)
        require(block.length(chosen[k - 1]) <= block.length(chosen[k]),
                "targets: must be in order of ascending length");
    require(F1 >= 0, "F1: must be a P-value");
    std::vector<int32_t> passed;
    std::vector<float> nats;
    {
        nb::gil_scoped_release released;
        msv_filter(model, block, chosen, F1, passed, nats);
    }
    return nb::make_tuple(to_numpy(std::move(passed)), to_numpy(std::move(nats)));
}

}  // namespace
}  // namespace tropalign

void bind_profile_filters(nb::module_ &m) {
    using namespace tropalign;
    nb::module_ testing = nb::cast<nb::module_>(m.attr("testing"));
    m.def("msv_scores", &scores<msv_scores>, "model"_a, "block"_a, array("targets"),
          "Compute SSV or MSV scores in nats, float32.");
    m.def("msv_filter", &msv_filter_of, "model"_a, "block"_a, array("targets"), "F1"_a,
          "Return the targets with a P-value of at most F1, and their scores.");
    m.def("bias_scores", &scores<bias_scores>, "model"_a, "block"_a, array("targets"),
          "Compute null scores in nats with the biased-composition filter, float32.");
    m.def("viterbi_scores", &scores<viterbi_scores>, "model"_a, "block"_a, array("targets"),
          "Compute Viterbi scores in nats, float32.");
    testing.def("arranged_bias_scores", &arranged_scores<bias_scores, n_bias_arrangements>, "model"_a, "block"_a,
                array("targets"), "arrangement"_a, "Compute the scores by one arrangement of lanes.");
    testing.def("arranged_viterbi_scores", &arranged_scores<viterbi_scores, n_viterbi_arrangements>, "model"_a,
                "block"_a, array("targets"), "arrangement"_a, "Compute the scores by one arrangement of lanes.");
    testing.def("n_bias_arrangements", &n_bias_arrangements, "Number of arrangements of this instruction set.");
    testing.def("n_viterbi_arrangements", &n_viterbi_arrangements, "Number of arrangements of this instruction set.");
    testing.def("bias_logarithms", &logarithms, array("values"),
                "Compute the logarithms that bias_scores uses, float32.");
    testing.def("bits_of", &bits_of, "nats"_a, "null_nats"_a,
                "Return a score in bits, relative to a null model's score.");
    testing.def("gumbel_p", &gumbel_p, "bits"_a, "mu"_a, "lambda_"_a, "Return the P-value of an MSV or Viterbi score.");
    testing.def("gumbel_log_p", &gumbel_log_p, "bits"_a, "mu"_a, "lambda_"_a, "Return the logarithm of the P-value.");
    testing.def("exponential_p", &exponential_p, "bits"_a, "mu"_a, "lambda_"_a,
                "Return the P-value of a Forward score.");
    testing.def("exponential_log_p", &exponential_log_p, "bits"_a, "mu"_a, "lambda_"_a,
                "Return the logarithm of the P-value.");
}
