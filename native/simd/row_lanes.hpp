// Vectors of neighbouring cells of a row, for recurrences that run along it: shifts by some lanes, the last lane.
#pragma once
#include <cstdint>

#include "vec.hpp"

namespace tropalign::TROPALIGN_ISA {
namespace {

using L = Lanes<int32_t, kVectorBytes>;
using V = Vec<int32_t, kVectorBytes>;

/// Shift by `Step` lanes: lane l gets lane l - Step of `v`; the first lanes get the last ones of `before`.
template <int Step>
[[gnu::always_inline]] inline V shifted(V before, V v) {
#if defined(__AVX512BW__)
    return (V)_mm512_alignr_epi32((__m512i)v, (__m512i)before, L::count - Step);
#elif defined(__AVX2__)
    constexpr int b = L::count - Step;
    return __builtin_shufflevector(before, v, b, b + 1, b + 2, b + 3, b + 4, b + 5, b + 6, b + 7);
#else
    constexpr int b = L::count - Step;
    return __builtin_shufflevector(before, v, b, b + 1, b + 2, b + 3);
#endif
}

/// Return one bit per lane: a > b.
[[gnu::always_inline]] inline uint32_t lane_bits(V a, V b) {
#if defined(__AVX512BW__)
    return static_cast<uint32_t>(widened(gt_bits<int32_t, kVectorBytes>(a, b)));
#elif defined(__AVX2__)
    return static_cast<uint32_t>(_mm256_movemask_ps((__m256)(a > b)));
#elif defined(__SSE4_1__)
    return static_cast<uint32_t>(_mm_movemask_ps((__m128)(a > b)));
#elif defined(__ARM_NEON)
    return bits_of_words((uint32x4_t)(a > b));
#else
    const auto mask = a > b;
    uint32_t bits = 0;
    for (int l = 0; l < L::count; ++l) bits |= static_cast<uint32_t>(mask[l] & 1) << l;
    return bits;
#endif
}

/// Set all lanes to the last one.
[[gnu::always_inline]] inline V last_of(V v) {
#if defined(__AVX512BW__)
    return (V)_mm512_permutexvar_epi32(_mm512_set1_epi32(L::count - 1), (__m512i)v);
#elif defined(__AVX2__)
    return __builtin_shufflevector(v, v, 7, 7, 7, 7, 7, 7, 7, 7);
#else
    return __builtin_shufflevector(v, v, 3, 3, 3, 3);
#endif
}

}  // namespace
}  // namespace tropalign::TROPALIGN_ISA
