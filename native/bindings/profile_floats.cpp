// Bindings: the single stages of a search that compute in floats.
#include "../profiles/parsers.hpp"
#include "../profiles/regions.hpp"
#include "../simd/denormals.hpp"
#include "checked_targets.hpp"

using namespace nb::literals;

namespace tropalign {
namespace {

Numpy<float> forward_scores_of(const SearchModel &model, const TargetBlock &block, Column<int32_t> targets) {
    const Targets chosen = checked_targets(block, targets);
    std::vector<float> nats(chosen.size());
    {
        nb::gil_scoped_release released;
        forward_scores(model, block, chosen, nats.data());
    }
    return to_numpy(std::move(nats));
}

nb::object rows_of(std::vector<float> &&specials) {
    const std::array<size_t, 2> shape{specials.size() / kSpecials, kSpecials};
    return to_numpy(std::move(specials), shape);
}

Dict parsed(const TargetBlock &block, int32_t k, ParsedTarget &target) {
    DomainPosteriors posteriors;
    domain_posteriors(block, k, target, posteriors);
    nb::dict found;
    found["forward_nats"] = target.forward_nats, found["backward_nats"] = target.backward_nats;
    found["own_scales"] = target.own_scales;
    found["forward"] = rows_of(std::move(target.forward));
    found["backward"] = rows_of(std::move(target.backward));
    found["begin"] = to_numpy(std::move(posteriors.begin)), found["end"] = to_numpy(std::move(posteriors.end));
    found["homology"] = to_numpy(std::move(posteriors.homology));
    found["overflows"] = posteriors.overflows;
    return found;
}

List<Dict> parse_targets(const SearchModel &model, const TargetBlock &block, Column<int32_t> targets) {
    const Targets chosen = checked_targets(block, targets);
    std::vector<ParsedTarget> found(chosen.size());
    {
        nb::gil_scoped_release released;
        forward_parse(model, block, chosen, found.data());
        backward_parse(model, block, chosen, found.data());
    }
    nb::list out;
    for (size_t k = 0; k < found.size(); ++k) out.append(parsed(block, chosen[k], found[k]));
    return out;
}

}  // namespace
}  // namespace tropalign

void bind_profile_floats(nb::module_ &m) {
    using namespace tropalign;
    m.def("set_denormals", &set_denormals, "bits"_a,
          "Set this thread's handling of denormal floats, as bits of MXCSR; returns the previous bits.");
    m.def("forward_scores", &forward_scores_of, "model"_a, "block"_a, array("targets"),
          "Compute Forward scores in nats, float32.");
    m.def("parse_targets", &parse_targets, "model"_a, "block"_a, array("targets"),
          "Return a dict per target with the results of both parsers and of the decoding of domains.");
}
