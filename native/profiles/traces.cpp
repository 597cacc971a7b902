#include "traces.hpp"

#include <algorithm>
#include <cmath>

#include "../simd/denormals.hpp"
#include "../simd/dispatch.hpp"

namespace tropalign {

TROPALIGN_DISPATCH(EnsembleKernels, ensemble_kernels)

namespace {

TraceTables make_trace_tables(const ProfileModel &model) {
    const int32_t M = model.M;
    const size_t width = static_cast<size_t>(M) + 1;
    TraceTables tables{M, std::max(2, (M + 3) / 4), {}, {}, {}};
    tables.steps.resize(width), tables.first_odds.resize(width), tables.last_odds.resize(width);
    const auto odds = [&](Transition t, int32_t k) { return k > 0 ? model.transitions[t * width + k] : 0; };
    for (int32_t k = 1; k <= M; ++k) {
        tables.steps[k] = {odds(kBM, k), odds(kMM, k), odds(kIM, k),     odds(kDM, k),
                           odds(kMI, k), odds(kII, k), odds(kMD, k - 1), odds(kDD, k - 1)};
        for (int x = 0; x < 16; ++x) tables.first_odds[k].odds[x] = model.match_odds[x * width + k];
        for (int x = 16; x < kResidues; ++x) tables.last_odds[k].odds[x - 16] = model.match_odds[x * width + k];
    }
    return tables;
}

}  // namespace

const TraceTables &SearchModel::traces() const {
    return traces_.get([&] { return make_trace_tables(plain_); });
}

void draw_traces(const SearchModel &model, const FullMatrix &matrix, const MatrixRegion &region, int32_t begin,
                 int32_t n, TraceRandom &random, std::vector<Segment> &segments, float *scores) {
    const DenormalsAsZero guard;
    std::fill(scores, scores + region.L, 0.0f);
    const size_t before = segments.size();
    selected_ensemble_kernels()->draw({model.traces(), matrix, region.odds, region.codes, n}, random, segments, scores);
    for (size_t k = before; k < segments.size(); ++k) segments[k].begin += begin, segments[k].end += begin;
    for (int32_t k = 0; k < region.L; ++k) scores[k] = logf(scores[k] / static_cast<float>(n));
}

}  // namespace tropalign
