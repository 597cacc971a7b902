// Vectors of B bytes in parts of P bytes, each with its own 16-bit words: shifts within parts, and loads of parts.
//
//     B = 64, P = 16    | part 0: 8 words | part 1 | part 2 | part 3 |
#pragma once
#include "vec.hpp"

namespace tropalign::TROPALIGN_ISA {

/// Shift within parts: lane z of each part gets lane z - n of `v`, the first n lanes get 0.
template <int B, int P, int n>
[[gnu::always_inline]] inline Vec<uint16_t, B> shift_stripes(Vec<uint16_t, B> v) {
    using U = Vec<uint16_t, B>;
#if defined(__AVX512BW__)
    if constexpr (B == 64 && P == 16) return (U)_mm512_bslli_epi128((__m512i)v, 2 * n);
    if constexpr (B == 64 && P == 64) {
        constexpr int dwords = n == 1 ? 4 : n / 2;
        const __m512i moved = _mm512_alignr_epi32((__m512i)v, _mm512_setzero_si512(), 16 - dwords);
        return (U)(n == 1 ? _mm512_alignr_epi8((__m512i)v, moved, 14) : moved);
    }
#endif
#if defined(__AVX2__)
    if constexpr (B == 32 && P == 16) return (U)_mm256_bslli_epi128((__m256i)v, 2 * n);
    if constexpr (B == 32 && P == 32) {
        const __m256i moved = _mm256_permute2x128_si256((__m256i)v, (__m256i)v, 0x08);  // zeros, the low half
        return (U)(n == 8 ? moved : _mm256_alignr_epi8((__m256i)v, moved, 16 - 2 * n % 16));
    }
#endif
#if defined(__SSE2__)
    if constexpr (B == 16) return (U)_mm_bslli_si128((__m128i)v, 2 * n);
#elif defined(__ARM_NEON)
    if constexpr (B == 16) return (U)vextq_u16(vdupq_n_u16(0), (uint16x8_t)v, 8 - n);
#endif
    U out;
    for (int l = 0; l < B / 2; ++l) out[l] = l % (P / 2) < n ? 0 : v[l - n];
    return out;
}

/// Set the last lane of each part to the maximum of the part.
template <int B, int P, int n = 1>
[[gnu::always_inline]] inline Vec<uint16_t, B> highest_last(Vec<uint16_t, B> v) {
    if constexpr (n == P / 2) return v;
    else return highest_last<B, P, 2 * n>(vmax(v, shift_stripes<B, P, n>(v)));
}

/// Load the same P bytes into all parts.
template <int B, int P, class T>
[[gnu::always_inline]] inline Vec<T, B> in_all_parts(const T *p) {
#if defined(__AVX512BW__)
    if constexpr (B == 64 && P == 16) return (Vec<T, B>)_mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)p));
#endif
#if defined(__AVX2__)
    if constexpr (B == 32 && P == 16)
        return (Vec<T, B>)_mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)p));
#endif
    return load<T, B>(p);  // the vector is a single part
}

/// Load P bytes per part, each from its own pointer.
template <int B, int P>
[[gnu::always_inline]] inline Vec<int16_t, B> of_parts(const int16_t *const *p, size_t at) {
#if defined(__AVX2__)
    [[maybe_unused]] const auto pair = [&](int k) {
        const __m256i low = _mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)(p[k] + at)));
        return _mm256_inserti128_si256(low, _mm_loadu_si128((const __m128i *)(p[k + 1] + at)), 1);
    };
    if constexpr (B == 32 && P == 16) return (Vec<int16_t, B>)pair(0);
#endif
#if defined(__AVX512BW__)
    if constexpr (B == 64 && P == 16)
        return (Vec<int16_t, B>)_mm512_inserti64x4(_mm512_castsi256_si512(pair(0)), pair(2), 1);
#endif
    return load<int16_t, B>(p[0] + at);  // the vector is a single part
}

}  // namespace tropalign::TROPALIGN_ISA
