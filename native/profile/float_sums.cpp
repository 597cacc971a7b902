#include "float_sums.hpp"

#include <vector>

namespace tropalign {
namespace {

constexpr int kLogSumSteps = 16'000, kStepsPerNat = 1000;

std::vector<float> make_table() {
    std::vector<float> table(kLogSumSteps);
    for (int k = 0; k < kLogSumSteps; ++k)
        table[k] = static_cast<float>(std::log(1. + std::exp(static_cast<double>(-k) / kStepsPerNat)));
    return table;
}

}  // namespace

float table_log_sum(float a, float b) {
    static const std::vector<float> table = make_table();
    constexpr float negligible = 15.7f;  // beyond, the smaller one changes no float
    const float high = a > b ? a : b, low = a < b ? a : b;
    if (low == -INFINITY || high - low >= negligible) return high;
    return high + table[static_cast<int>((high - low) * static_cast<float>(kStepsPerNat))];
}

}  // namespace tropalign
