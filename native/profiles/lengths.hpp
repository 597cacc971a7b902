// Values that depend on a target's length only, and are the same for all models (HMMER 3's length model); the
// units of integer scores.
#pragma once
#include <cstdint>

namespace tropalign {

/// Thirds of a bit per nat, and 1/500 bits per nat.
inline constexpr auto kByteScale = static_cast<float>(3.0 / 0.69314718055994529),
                      kWordScale = static_cast<float>(500.0 / 0.69314718055994529);

/// Longest target; longer ones are rejected, as in HMMER.
inline constexpr int32_t kLongestTarget = 100'000;

/// Return null1 in nats: (float)L * log(p1) + log(1. - p1), p1 = L / (L + 1) in float, the logarithms in double.
float null1_nats(int32_t L);
/// Return the cost of N -> B, J -> B, C -> T in 8 bits, in thirds of a bit (HMMER's tjb).
uint8_t byte_move(int32_t L);
/// Return the same as a 16-bit score in 1/500 bit.
int16_t word_move(int32_t L);

}  // namespace tropalign
