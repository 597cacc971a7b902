#include "bias.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "../simd/denormals.hpp"
#include "../simd/dispatch.hpp"

namespace tropalign {

TROPALIGN_DISPATCH(BiasKernels, bias_kernels)

namespace {

BiasModel bias_model(const ProfileModel &model) {
    // The mean length of a biased segment is an eighth of the nodes.
    const float mean = static_cast<float>(model.M) / 8.0F;
    return {model.composition_odds.data(), 1.0F / (mean + 1.0F), mean / (mean + 1.0F)};
}

/// Add the logarithms of length and ends, as in null1, to the kernels' sum; here in float, in null1 in double.
float bias_nats_of(const BiasTarget &target) {
    const float nats = target.nats + static_cast<float>(std::log(static_cast<double>(target.end)));
    return nats + static_cast<float>(target.length) * std::log(target.stay) + std::log(target.leave);
}

/// Score all targets; `choose` returns the arrangement for a number of targets.
template <class Choose>
void score(const SearchModel &model, const TargetBlock &block, Targets targets, float *nats, Choose choose) {
    std::vector<size_t> order;
    for (size_t j = 0; j < targets.size(); ++j) {
        nats[j] = std::numeric_limits<float>::quiet_NaN();
        if (block.length(targets[j]) > 0) order.push_back(j);
    }
    std::ranges::stable_sort(order, std::ranges::greater{}, [&](size_t j) { return block.length(targets[j]); });
    std::vector<BiasTarget> sorted;
    sorted.reserve(order.size());
    for (const size_t j : order) {
        const int32_t L = block.length(targets[j]);
        const float stay = static_cast<float>(L) / static_cast<float>(L + 1);
        sorted.push_back({block.codes(targets[j]), L, stay, 1.0F - stay, 0, 0});
    }
    const DenormalsAsZero scope;
    choose(*selected_bias_kernels(), sorted.size()).sweep(bias_model(model.plain()), sorted);
    for (size_t at = 0; at < order.size(); ++at) nats[order[at]] = bias_nats_of(sorted[at]);
}

}  // namespace

void bias_scores(const SearchModel &model, const TargetBlock &block, Targets targets, float *nats) {
    score(model, block, targets, nats, [](const BiasKernels &kernels, size_t n) {
        // Measured: slots pay off if at least three quarters of them are in use.
        return 4 * n < 3 * static_cast<size_t>(kernels.many.n_slots) ? kernels.few : kernels.many;
    });
}

void bias_scores(const SearchModel &model, const TargetBlock &block, Targets targets, int arrangement, float *nats) {
    score(model, block, targets, nats,
          [=](const BiasKernels &kernels, size_t) { return arrangement == 0 ? kernels.few : kernels.many; });
}

int n_bias_arrangements() { return 2; }

void bias_logarithms(float *values, size_t n) { selected_bias_kernels()->logarithms(values, n); }

}  // namespace tropalign
