// The other way of shift_in (bytes.hpp), in a file of its own for those that want both.
#pragma once
#include "vec.hpp"

namespace tropalign::TROPALIGN_ISA {

/// Lane l has what lane l + 1 of `v` has, the last lane what lane 0 of `entering` has.
template <int Bytes>
[[gnu::always_inline]] inline Vec<int8_t, Bytes> shift_out(Vec<int8_t, Bytes> v, Vec<int8_t, Bytes> entering) {
    using V = Vec<int8_t, Bytes>;
#if defined(__AVX512BW__)
    if constexpr (Bytes == 64) {  // each 16 bytes with those after them
        const __m512i after = _mm512_alignr_epi64((__m512i)entering, (__m512i)v, 2);
        return (V)_mm512_alignr_epi8(after, (__m512i)v, 1);
    }
#endif
#if defined(__AVX2__)
    if constexpr (Bytes == 32) {
        const __m256i after = _mm256_permute2x128_si256((__m256i)v, (__m256i)entering, 0x21);
        return (V)_mm256_alignr_epi8(after, (__m256i)v, 1);
    }
#endif
#if defined(__SSE4_1__)
    if constexpr (Bytes == 16) return (V)_mm_alignr_epi8((__m128i)entering, (__m128i)v, 1);
#elif defined(__ARM_NEON)
    return (V)vextq_s8((int8x16_t)v, (int8x16_t)entering, 1);
#else
    V out;
    for (int l = 0; l < Bytes; ++l) out[l] = l + 1 < Bytes ? v[l + 1] : entering[0];
    return out;
#endif
}

}  // namespace tropalign::TROPALIGN_ISA
