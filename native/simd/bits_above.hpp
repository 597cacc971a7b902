// Comparison of 16-bit lanes with a bound, as bits in the order of the lanes.
#pragma once
#include <utility>

#include "vec.hpp"

namespace tropalign::TROPALIGN_ISA {

/// Return one bit per 16-bit lane of `a`, then of `b`: set if the lane is greater than that lane of `least`.
template <int B>
[[gnu::always_inline]] inline uint64_t bits_above(Vec<int16_t, B> a, Vec<int16_t, B> b, Vec<int16_t, B> least) {
#if defined(__AVX512BW__)
    if constexpr (B == 64) return widened(gt_bits<int16_t, B>(a, least)) | widened(gt_bits<int16_t, B>(b, least)) << 32;
#endif
#if defined(__AVX2__)
    if constexpr (B == 32) {
        const __m256i both = _mm256_packs_epi16((__m256i)(a > least), (__m256i)(b > least));
        return static_cast<uint32_t>(_mm256_movemask_epi8(_mm256_permute4x64_epi64(both, 0xD8)));
    }
#endif
#if defined(__SSE4_1__)
    if constexpr (B == 16)
        return static_cast<uint32_t>(_mm_movemask_epi8(_mm_packs_epi16((__m128i)(a > least), (__m128i)(b > least))));
#endif
    const auto both = [&]<size_t... l>(std::index_sequence<l...>) {
        using Bytes = Vec<int8_t, B>;
        return (Bytes)__builtin_shufflevector((Bytes)(a > least), (Bytes)(b > least), (2 * l)...);
    }(std::make_index_sequence<B>{});
    return widened(gt_bits<int8_t, B>(Vec<int8_t, B>{}, both));
}

}  // namespace tropalign::TROPALIGN_ISA
