#include "float_sums.hpp"

namespace tropalign {

// Each step is computed on demand, a few times per hit: a table built by the first caller would need a lock, and a
// child process would find it locked forever if another thread held it when the process forked.
float table_log_sum(float a, float b) {
    constexpr int kStepsPerNat = 1000;
    constexpr float negligible = 15.7f;  // beyond this the smaller number does not change the sum
    const float high = a > b ? a : b, low = a < b ? a : b;
    if (low == -INFINITY || high - low >= negligible) return high;
    const int step = static_cast<int>((high - low) * static_cast<float>(kStepsPerNat));
    return high + static_cast<float>(std::log(1. + std::exp(static_cast<double>(-step) / kStepsPerNat)));
}

}  // namespace tropalign
