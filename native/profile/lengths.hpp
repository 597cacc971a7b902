// What depends on a target's length alone, and is the same for all models (specs: HMMER 3's length model); the
// units of scores in integers.
#pragma once
#include <cstdint>

namespace tropalign {

/// What is in a score, in thirds of a bit or in 1/500 bit per nat.
inline constexpr auto kByteScale = static_cast<float>(3.0 / 0.69314718055994529),
                      kWordScale = static_cast<float>(500.0 / 0.69314718055994529);

/// Longer targets are refused, as HMMER refuses them.
inline constexpr int32_t kLongestTarget = 100'000;

/// null1 in nats: (float)L * log(p1) + log(1. - p1), p1 = L / (L + 1) in float, the logarithms in double.
float null1_nats(int32_t L);
/// 8 bits: the cost of N -> B, J -> B, C -> T, in thirds of a bit (HMMER's tjb).
uint8_t byte_move(int32_t L);
/// 16 bits: the same as a score in 1/500 bit.
int16_t word_move(int32_t L);

}  // namespace tropalign
