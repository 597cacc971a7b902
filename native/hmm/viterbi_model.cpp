#include "viterbi_model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tropalign {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

/// Rounds n logarithms; the highest finite one without its sign.
double round_logs(const double *logs, int64_t n, double *rounded) {
    double largest = 0;
    for (int64_t k = 0; k < n; ++k) {
        rounded[k] = rounded_log(logs[k]);
        largest = std::max(largest, logs[k] == kNever ? 0 : std::abs(logs[k]));
    }
    return largest;
}

}  // namespace

ViterbiModel::ViterbiModel(const HmmLogs &logs) : n_states(logs.n_states), n_symbols(logs.n_symbols) {
    stride = (n_states + kStatePadding - 1) / kStatePadding * kStatePadding;
    const int64_t l = n_states, n_transitions = int64_t{stride} * stride, n_highest = int64_t{n_blocks()} * stride;
    memory_ = Buffer<double>(stride + 2 * n_transitions + n_highest + int64_t{n_symbols} * stride);
    std::fill(memory_.data(), memory_.data() + memory_.size(), kNever);
    double *start_at = memory_.data(), *from_at = start_at + stride, *into_at = from_at + n_transitions;
    double *highest_at = into_at + n_transitions, *emission_at = highest_at + n_highest;
    start = start_at, from = from_at, into = into_at, highest = highest_at, emission = emission_at;
    largest = round_logs(logs.start, l, start_at);
    for (int64_t b = 0; b < n_blocks(); ++b) {
        const int64_t first = b * kTargetStates, width = std::min<int64_t>(kTargetStates, stride - first);
        const int64_t n = std::min(width, l - first);
        double *block = from_at + first * stride;
        for (int64_t r = 0; r < l; ++r) {
            double *row = block + r * width;
            largest = std::max(largest, round_logs(logs.transition + r * l + first, n, row));
            highest_at[b * stride + r] = *std::max_element(row, row + n);
        }
        for (int64_t r = 0; r < l; r += kStatePadding)  // few rows at a time, which stay in the cache
            for (int64_t s = 0; s < n; ++s)
                for (int64_t k = r; k < r + kStatePadding; ++k)
                    into_at[(first + s) * stride + k] = block[k * width + s];
    }
    for (int64_t s = 0; s < l; ++s)
        for (int64_t x = 0; x < n_symbols; ++x)
            largest = std::max(largest, round_logs(logs.emission + s * n_symbols + x, 1, emission_at + x * stride + s));
}

}  // namespace tropalign
