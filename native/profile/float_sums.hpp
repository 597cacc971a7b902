// Sums of floats as Easel and HMMER add them up.
#pragma once
#include <cmath>
#include <cstddef>

namespace tropalign {

/// With Kahan's correction (1965) of what each addition rounds off.
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

/// log(exp(a) + exp(b)) as by a table in steps of 1/1000 of the difference, of which the next lower step counts.
float table_log_sum(float a, float b);

}  // namespace tropalign
