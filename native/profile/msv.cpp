#include "msv.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "lengths.hpp"

namespace tropalign {
namespace {

constexpr int kBase = 190;  // a score of 0 in offset bytes
constexpr float kScale = static_cast<float>(3.0 / 0.69314718055994529);
constexpr float kOverflow = std::numeric_limits<float>::infinity();

float nats_of(int xJ, int move) {
    const float thirds = static_cast<float>(xJ - move) - static_cast<float>(kBase);
    return static_cast<float>(static_cast<double>(thirds / kScale) - 3.0);
}

std::optional<float> ssv_score(const ProfileModel &model, const uint8_t *codes, int32_t L) {
    const int move = byte_move(L), enter = move + model.entry;
    if (enter + model.end + model.bias >= 127) return std::nullopt;
    std::vector<int> v(static_cast<size_t>(model.M) + 1, -128);
    int highest = 128;
    for (int32_t i = 0; i < L; ++i) {
        const uint8_t *costs = &model.byte_cost[static_cast<size_t>(codes[i]) * (model.M + 1)];
        for (int32_t k = model.M; k >= 1; --k) {
            v[k] = std::clamp(v[k - 1] - std::min(costs[k] - model.bias, 127), -128, 127);
            highest = std::max(highest, v[k] & 255);
        }
    }
    if (highest >= 255 - model.bias) {
        if (kBase - enter < 128) return std::nullopt;
        return kOverflow;
    }
    const int xE = highest + kBase - enter - 128;
    if (xE >= 255 - model.bias) return kOverflow;
    if (xE - model.end > kBase) return std::nullopt;
    return nats_of(xE - model.end, move);
}

float msv_score(const ProfileModel &model, const uint8_t *codes, int32_t L) {
    const int move = byte_move(L), enter = (move + model.entry) & 255;
    std::vector<int> v(static_cast<size_t>(model.M) + 1, 0);
    int xJ = 0, xB = std::max(0, kBase - enter);
    for (int32_t i = 0; i < L; ++i) {
        const uint8_t *costs = &model.byte_cost[static_cast<size_t>(codes[i]) * (model.M + 1)];
        int xE = 0;
        for (int32_t k = model.M; k >= 1; --k) {
            v[k] = std::max(0, std::min(255, std::max(v[k - 1], xB) + model.bias) - costs[k]);
            xE = std::max(xE, v[k]);
        }
        if (xE + model.bias >= 255) return kOverflow;
        xJ = std::max(xJ, xE - model.end);
        xB = std::max(0, std::max(kBase, xJ) - enter);
    }
    return nats_of(xJ, move);
}

double gumbel(double x, double mu, double lambda) {
    const double e = -std::exp(-lambda * (x - mu));
    return std::fabs(e) < 5e-9 ? -e : 1 - std::exp(e);
}

}  // namespace

void msv_scores(const SearchModel &model, const TargetBlock &block, Targets targets, float *nats) {
    for (size_t at = 0; at < targets.size(); ++at) {
        const int32_t k = targets[at];
        const std::optional<float> score = ssv_score(model.plain(), block.codes(k), block.length(k));
        nats[at] = score ? *score : msv_score(model.plain(), block.codes(k), block.length(k));
    }
}

void msv_filter(const SearchModel &model, const TargetBlock &block, Targets targets, double F1,
                std::vector<int32_t> &passed, std::vector<float> &nats) {
    for (const int32_t k : targets) {
        if (block.length(k) == 0) continue;
        float score;
        msv_scores(model, block, {&k, 1}, &score);
        const auto bits =
            static_cast<float>(static_cast<double>(score - null1_nats(block.length(k))) / 0.69314718055994529);
        if (gumbel(bits, model.plain().msv_mu, model.plain().msv_lambda) > F1) continue;
        passed.push_back(k);
        nats.push_back(score);
    }
}

}  // namespace tropalign
