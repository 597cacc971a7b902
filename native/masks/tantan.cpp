#include "tantan.hpp"

#include "../simd/dispatch.hpp"

namespace tropalign {

TROPALIGN_DISPATCH(TantanKernels, tantan_kernels)

TantanModel::TantanModel(const TantanRule &given)
    : rule(given), width((given.periods + kTantanLanes - 1) / kTantanLanes * kTantanLanes), starts(width, 0.0) {
    // Shares decrease from one period to the next, and their sum is 1.
    double share = 1, sum = 0;
    for (int k = 1; k <= rule.periods; ++k, share *= rule.decay) sum += starts[width - k] = share;
    for (double &start : starts) start *= rule.repeat / sum;
}

Intervals tantan(const TantanModel &model, const uint8_t *codes, int64_t n) {
    std::vector<uint8_t> letters(model.width + n, kTantanCodes - 1);
    std::copy_n(codes, n, letters.begin() + model.width);
    std::vector<double> chances(n);
    selected_tantan_kernels()->chances(model, letters.data() + model.width, n, chances.data());
    Intervals found;
    for (int64_t at = 0; at < n; ++at)
        if (chances[at] >= model.rule.least) unite(found, {at, at + 1});
    return found;
}

}  // namespace tropalign
