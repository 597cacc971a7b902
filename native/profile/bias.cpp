#include "bias.hpp"

#include <algorithm>
#include <cmath>

namespace tropalign {
namespace {

float score(const ProfileModel &model, const uint8_t *codes, int32_t L) {
    // Mean lengths: the target's own for background, an eighth of the nodes for a biased segment.
    const float stay = static_cast<float>(L) / static_cast<float>(L + 1), biased = static_cast<float>(model.M) / 8.0f;
    const float to_biased = 1.0f - stay, to_background = 1.0f / (biased + 1.0f), stay_biased = biased / (biased + 1.0f);
    float background = 0.999f, foreground = 0.001f, nats = 0;
    for (int32_t i = 0; i < L; ++i) {
        const float odds = model.composition_odds[codes[i]];
        const float b = i ? background * stay + foreground * to_background : background;
        const float f = (i ? background * to_biased + foreground * stay_biased : foreground) * odds;
        const float highest = std::max(b, f);
        background = b / highest, foreground = f / highest;
        nats += static_cast<float>(std::log(static_cast<double>(highest)));
    }
    nats += static_cast<float>(std::log(static_cast<double>(background + foreground)));
    return nats + static_cast<float>(L) * std::log(stay) + std::log(1.0f - stay);
}

}  // namespace

void bias_scores(const SearchModel &model, const TargetBlock &block, Targets targets, float *nats) {
    for (size_t j = 0; j < targets.size(); ++j)
        nats[j] = score(model.plain(), block.codes(targets[j]), block.length(targets[j]));
}

}  // namespace tropalign
