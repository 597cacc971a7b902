#include "viterbi_model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tropalign {

ViterbiModel::ViterbiModel(const HmmLogs &logs) : n_states(logs.n_states) {
    constexpr double kNever = -std::numeric_limits<double>::infinity();
    const int64_t l = n_states, n_symbols = logs.n_symbols;
    stride = (n_states + kStatePadding - 1) / kStatePadding * kStatePadding;
    const int64_t n_transitions = int64_t{stride} * stride;
    memory_ = Buffer<double>(stride + 2 * n_transitions + int64_t{n_blocks()} * stride + n_symbols * stride);
    std::fill(memory_.data(), memory_.data() + memory_.size(), kNever);
    double *start_at = memory_.data(), *from_at = start_at + stride, *into_at = from_at + n_transitions;
    double *highest_at = into_at + n_transitions, *emission_at = highest_at + int64_t{n_blocks()} * stride;
    start = start_at, from = from_at, into = into_at, highest = highest_at, emission = emission_at;
    is_small = true;
    auto take = [&](double x) {
        is_small &= x == kNever || std::abs(x) <= kMostExact;
        return rounded_log(x);
    };
    for (int64_t s = 0; s < l; ++s) start_at[s] = take(logs.start[s]);
    for (int64_t r = 0; r < l; ++r) {
        for (int64_t s = 0; s < l; ++s) {
            const int64_t block = s / kStateBlock, width = std::min<int64_t>(kStateBlock, stride - block * kStateBlock);
            const double x = take(logs.transition[r * l + s]);
            from_at[block * kStateBlock * stride + r * width + s % kStateBlock] = into_at[s * stride + r] = x;
            double &most = highest_at[block * stride + r];
            most = std::max(most, x);
        }
    }
    for (int64_t s = 0; s < l; ++s)
        for (int64_t x = 0; x < n_symbols; ++x) emission_at[x * stride + s] = take(logs.emission[s * n_symbols + x]);
}

}  // namespace tropalign
