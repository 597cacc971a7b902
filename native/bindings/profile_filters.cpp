// The filters of a search, each by itself.
#include "../profile/msv.hpp"
#include "check.hpp"

using namespace nb::literals;

namespace tropalign {
namespace {

Targets checked(const TargetBlock &block, const Column<int32_t> &targets) {
    require_below(targets.data(), targets.size(), block.size(), "targets");
    return {targets.data(), targets.size()};
}

/// The scores of one filter.
template <auto stage>
nb::object scores(const SearchModel &model, const TargetBlock &block, Column<int32_t> targets) {
    const Targets chosen = checked(block, targets);
    std::vector<float> nats(chosen.size());
    {
        nb::gil_scoped_release released;
        stage(model, block, chosen, nats.data());
    }
    return to_numpy(std::move(nats));
}

nb::tuple msv_filter_of(const SearchModel &model, const TargetBlock &block, Column<int32_t> targets, double F1) {
    const Targets chosen = checked(block, targets);
    for (size_t k = 1; k < chosen.size(); ++k)
        require(block.length(chosen[k - 1]) <= block.length(chosen[k]), "targets: not by ascending length");
    require(F1 >= 0, "F1: not a P-value");
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
    m.def("msv_scores", &scores<msv_scores>, "model"_a, "block"_a, array("targets"),
          "SSV or MSV scores in nats, float32.");
    m.def("msv_filter", &msv_filter_of, "model"_a, "block"_a, array("targets"), "F1"_a,
          "Targets whose P-value is F1 or less, and their scores.");
}
