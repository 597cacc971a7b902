// Sums of floats in the way of Easel and HMMER.
#pragma once
#include <cmath>
#include <cstddef>

namespace tropalign {

/// Sum with Kahan's correction (1965) of the rounding error of each addition.
template <class Values>
inline float compensated_sum(const Values &values, size_t n) {
    float sum = 0, lost = 0;
    for (size_t k = 0; k < n; ++k) {
        const float value = values[k] - lost, next = sum + value;
        lost = (next - sum) - value;
        sum = next;
    }
    return sum;
}

/// Return log(exp(a) + exp(b)) as by a table in steps of 1/1000 of the difference, rounded down.
float table_log_sum(float a, float b);

}  // namespace tropalign
