#include "float_sums.hpp"

namespace tropalign {

// A step is computed as it is asked for, a few times per hit: a table that the first caller makes would be behind a
// lock, which a child process finds locked for ever where another thread held it when the process forked.
float table_log_sum(float a, float b) {
    constexpr int kStepsPerNat = 1000;
    constexpr float negligible = 15.7f;  // beyond, the smaller one changes no float
    const float high = a > b ? a : b, low = a < b ? a : b;
    if (low == -INFINITY || high - low >= negligible) return high;
    const int step = static_cast<int>((high - low) * static_cast<float>(kStepsPerNat));
    return high + static_cast<float>(std::log(1. + std::exp(static_cast<double>(-step) / kStepsPerNat)));
}

}  // namespace tropalign
