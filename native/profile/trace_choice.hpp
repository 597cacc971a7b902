// One of two or four paths, drawn by a random number as HMMER draws it.
//
// HMMER divides each path by their sum (a float, with Kahan's correction), adds the quotients up in double and compares
// with random / 2^32. All of that rounds off less than 1e-6 of the sum; so where the same comparison without any
// division is clear by four times as much, its outcome is HMMER's, and else HMMER's operations are done.
#pragma once
#include <cstdint>

#include "float_sums.hpp"

namespace tropalign {

inline constexpr float kClear = 4e-6f;
/// Sums below may have lost parts that are no normal floats.
inline constexpr float kLeastSum = 1e-30f;

/// A random number of [0, 1).
inline float share_of(uint32_t random) { return static_cast<float>(static_cast<int64_t>(random)) * 0x1p-32f; }

/// In HMMER's operations. `paths` is overwritten.
[[gnu::noinline, gnu::cold]] inline int exact_choice(float *paths, int n, uint32_t random) {
    const float sum = compensated_sum(paths, n);
    double norm = 0, reached = 0;
    for (int k = 0; k < n; ++k) {
        paths[k] = sum != 0 ? paths[k] / sum : static_cast<float>(1. / static_cast<float>(n));
        norm += paths[k];
    }
    const double roll = random / 4294967296.0;
    for (int k = 0; k < n - 1; ++k) {
        reached += paths[k];
        if (roll < reached / norm) return k;
    }
    return n - 1;
}

/// Whether it is the first.
[[gnu::always_inline]] inline bool is_first_of(float first, float second, uint32_t random) {
    const float sum = first + second, at = share_of(random) * sum, clear = sum * kClear;
    if (sum > kLeastSum) [[likely]] {
        if (at < first - clear) return true;
        if (at > first + clear) return false;
    }
    float paths[2] = {first, second};
    return exact_choice(paths, 2, random) == 0;
}

/// Which of four paths, the second of which is the likely one.
[[gnu::always_inline]] inline int choice_of_four(float first, float second, float third, float fourth,
                                                 uint32_t random) {
    const float two = first + second, three = two + third, sum = three + fourth;
    const float at = share_of(random) * sum, clear = sum * kClear;
    if (sum > kLeastSum) [[likely]] {
        if (at > first + clear && at < two - clear) [[likely]]
            return 1;
        if (at < first - clear) return 0;
        if (at > two + clear && at < three - clear) return 2;
        if (at > three + clear) return 3;
    }
    float paths[4] = {first, second, third, fourth};
    return exact_choice(paths, 4, random);
}

}  // namespace tropalign
