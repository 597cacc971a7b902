#include "viterbi.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "lengths.hpp"

namespace tropalign {
namespace {

constexpr int kBase = 12'000, kEnd = -500;
constexpr int16_t kLowest = std::numeric_limits<int16_t>::min(), kHighest = std::numeric_limits<int16_t>::max();

int16_t adds(int a, int b) { return static_cast<int16_t>(std::clamp<int>(a + b, kLowest, kHighest)); }

float score(const ProfileModel &model, const uint8_t *codes, int32_t L) {
    const size_t width = static_cast<size_t>(model.M) + 1;
    const auto t = [&](Transition which, int32_t k) { return model.word_transitions[which * width + k]; };
    const int move = word_move(L);
    std::vector<int16_t> M(width, kLowest), I(width, kLowest), D(width, kLowest);
    int16_t xC = kLowest;
    for (int32_t i = 0; i < L; ++i) {
        const auto xB = static_cast<int16_t>(std::max<int>(xC, kBase) + move);
        int16_t m = kLowest, inserted = kLowest, d = kLowest, d_now = kLowest, xE = kLowest;  // d: of the row before
        for (int32_t k = 1; k <= model.M; ++k) {
            const int16_t above = std::max(std::max(adds(xB, t(kBM, k)), adds(m, t(kMM, k))),
                                           std::max(adds(inserted, t(kIM, k)), adds(d, t(kDM, k))));
            m = M[k], inserted = I[k], d = D[k];
            M[k] = adds(above, model.word_match[codes[i] * width + k]);
            I[k] = std::max(adds(m, t(kMI, k)), adds(inserted, t(kII, k)));
            D[k] = d_now;
            d_now = std::max(adds(M[k], t(kMD, k)), adds(d_now, t(kDD, k)));
            xE = std::max(xE, M[k]);
        }
        if (xE == kHighest) return std::numeric_limits<float>::infinity();
        xC = std::max(xC, adds(xE, kEnd));
    }
    if (xC == kLowest) return -std::numeric_limits<float>::infinity();
    const auto scale = static_cast<float>(500 / 0.69314718055994529);
    const float nats = (static_cast<float>(xC) + static_cast<float>(move) - static_cast<float>(kBase)) / scale;
    return static_cast<float>(nats - 3.0);
}

}  // namespace

void viterbi_scores(const SearchModel &model, const TargetBlock &block, Targets targets, float *nats) {
    for (size_t j = 0; j < targets.size(); ++j)
        nats[j] = score(model.plain(), block.codes(targets[j]), block.length(targets[j]));
}

}  // namespace tropalign
