#include "viterbi_model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace tropalign {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

/// Round n logarithms; return the largest finite absolute value.
double round_logs(const double *logs, int64_t n, double *rounded) {
    double largest = 0;
    for (int64_t k = 0; k < n; ++k) {
        rounded[k] = rounded_log(logs[k]);
        largest = std::max(largest, logs[k] == kNever ? 0 : std::abs(logs[k]));
    }
    return largest;
}

/// Return the steps per 1 of 16-bit bounds: they leave room for twice the widest difference between two
/// transitions.
double bound_steps_of(const double *transition, int64_t n) {
    double lowest = -1, steps = 2048;
    for (int64_t k = 0; k < n; ++k) lowest = std::min(lowest, transition[k] == kNever ? 0 : transition[k]);
    while (steps > 16 && -lowest * steps > 0x1p14) steps /= 2;
    return steps;
}

/// Return the lowest integer that is at least x; the lowest of its type for -inf.
int16_t bound_above(double x) {
    x = std::clamp(x, -0x1p15, 0x1p15 - 1);
    const auto whole = static_cast<int32_t>(x);
    return static_cast<int16_t>(whole + (whole < x));
}

}  // namespace

ViterbiModel::ViterbiModel(const HmmLogs &logs) : n_states(logs.n_states), n_symbols(logs.n_symbols) {
    stride = (n_states + kStatePadding - 1) / kStatePadding * kStatePadding;
    const int64_t l = n_states, n_from = int64_t{stride} * (is_grouped() ? rows() : stride) + kGroup;
    const int64_t n_into = int64_t{stride} * stride;
    memory_ = Buffer<double>(2 * stride + n_from + n_into + int64_t{n_symbols} * stride);
    std::fill(memory_.data(), memory_.data() + memory_.size(), kNever);
    double *start_at = memory_.data(), *from_at = start_at + stride, *into_at = from_at + n_from;
    double *reached_at = into_at + n_into, *emission_at = reached_at + stride;
    start = start_at, from = from_at, into = into_at, reached = reached_at, emission = emission_at;
    largest = round_logs(logs.start, l, start_at);
    take_transitions(logs, from_at, into_at);
    for (int32_t s = 0; s < stride; ++s) {
        const double *row = into + s * int64_t{stride};
        if (*std::max_element(row, row + stride) == kNever) reached_at[s] = -kNever;
    }
    for (int64_t s = 0; s < l; ++s)
        for (int64_t x = 0; x < n_symbols; ++x)
            largest = std::max(largest, round_logs(logs.emission + s * n_symbols + x, 1, emission_at + x * stride + s));
}

void ViterbiModel::take_transitions(const HmmLogs &logs, double *from_at, double *into_at) {
    const int64_t l = n_states;
    if (is_grouped()) {
        bounds_ = Buffer<int16_t>(int64_t{n_groups()} * rows());
        std::fill(bounds_.data(), bounds_.data() + bounds_.size(), std::numeric_limits<int16_t>::min());
        highest = bounds_.data();
        bound_steps = bound_steps_of(logs.transition, l * l);
    }
    std::vector<double> few(kStatePadding * int64_t{stride}, kNever);  // rows, which stay in the cache
    for (int64_t first = 0; first < l; first += kStatePadding) {
        for (int64_t r = first; r < first + kStatePadding; ++r) {
            double *row = few.data() + (r - first) * stride;
            if (r < l) largest = std::max(largest, round_logs(logs.transition + r * l, l, row));
            else std::fill(row, row + l, kNever);
            if (!is_grouped()) std::copy(row, row + stride, from_at + r * stride);
            for (int64_t g = 0; is_grouped() && g < n_groups(); ++g) {
                const double *part = row + g * kGroup;
                std::copy(part, part + kGroup, from_at + (g * rows() + r) * kGroup);
                bounds_[g * rows() + r] = bound_above(*std::max_element(part, part + kGroup) * bound_steps);
            }
        }
        for (int64_t s = 0; s < l; ++s)
            for (int64_t r = 0; r < kStatePadding; ++r) into_at[s * stride + first + r] = few[r * stride + s];
    }
}

}  // namespace tropalign
