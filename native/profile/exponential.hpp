// The single-precision exponential of the Cephes library, in the order of operations in which Easel evaluates it in a
// vector (esl_sse.c): odds of HMMER's float stages are these, not libm's.
#pragma once
#include <bit>
#include <cstdint>
#include <limits>

namespace tropalign {

/// exp(x): x = k * log 2 + f with k an integer and |f| <= log(2) / 2, then 2^k * (1 + f + f^2 * P(f)), P of degree 5.
inline float single_exp(float x) {
    constexpr float highest = 88.3762626647949f;  // beyond: 2^k would not be a float
    if (x > highest) return std::numeric_limits<float>::infinity();
    if (x <= -highest) return 0;
    const float turns = x * 1.44269504f + 0.5f;
    auto k = static_cast<int32_t>(turns);
    if (static_cast<float>(k) > turns) --k;  // truncated towards 0: the next lower one
    // log 2 in two parts, the first of few bits, so that k times it is exact.
    const auto steps = static_cast<float>(k);
    const float f = x - steps * 0.693359375f - steps * -2.12194440e-4f;
    float p = 1.9875691500E-4f;
    for (const float next : {1.3981999507E-3f, 8.3334519073E-3f, 4.1665795894E-2f, 1.6666665459E-1f, 5.0000001201E-1f})
        p = p * f + next;
    const float mantissa = p * (f * f) + f + 1.0f;
    return mantissa * std::bit_cast<float>((k + 127) << 23);
}

}  // namespace tropalign
