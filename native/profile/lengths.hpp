// What depends on a target's length alone, and is the same for all models (specs: HMMER 3's length model).
#pragma once
#include <cstdint>

namespace tropalign {

/// Longer targets are refused, as HMMER refuses them.
inline constexpr int32_t kLongestTarget = 100'000;

/// null1 in nats: (float)L * log(p1) + log(1. - p1), p1 = L / (L + 1) in float, the logarithms in double.
float null1_nats(int32_t L);
/// 8 bits: the cost of N -> B, J -> B, C -> T, in thirds of a bit (HMMER's tjb).
uint8_t byte_move(int32_t L);
/// 16 bits: the same as a score in 1/500 bit.
int16_t word_move(int32_t L);

}  // namespace tropalign
