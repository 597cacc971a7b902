// Vectors of N quads: one target per quad (128 bits), four of its floats in each. Floats move within quads only,
// so that each target's sums are computed in the order of HMMER's four-float vectors for any N.
//
//     N = 4       target 0      target 1      target 2      target 3
//                 a0 a1 a2 a3   b0 b1 b2 b3   c0 c1 c2 c3   d0 d1 d2 d3
//     up          0 a0 a1 a2    0 b0 b1 b2    ...
#pragma once
#include <cstdint>

#include "real.hpp"

namespace tropalign::TROPALIGN_ISA {

template <int N>
using QuadLanes = Vec<float, 16 * N>;

/// Number of quads in the widest vectors.
inline constexpr int kMostQuads = kVectorBytes / 16;

template <int N>
[[gnu::always_inline]] inline QuadLanes<N> lanes_at(const float *p) {
    return load<float, 16 * N>(p);
}
template <int N>
[[gnu::always_inline]] inline void put(float *p, QuadLanes<N> v) {
    store<float, 16 * N>(p, v);
}

/// Load one quad for all targets.
template <int N>
[[gnu::always_inline]] inline QuadLanes<N> same_quads(const float *p) {
#if defined(__AVX512F__)
    if constexpr (N == 4) return (QuadLanes<N>)_mm512_broadcast_f32x4(_mm_loadu_ps(p));
#endif
#if defined(__AVX__)
    if constexpr (N == 2) return (QuadLanes<N>)_mm256_broadcast_ps(reinterpret_cast<const __m128 *>(p));
#endif
    if constexpr (N == 1) return lanes_at<1>(p);
}

/// Load a separate quad for each target, `at` floats after its pointer.
template <int N>
[[gnu::always_inline]] inline QuadLanes<N> own_quads(const float *const *from, int64_t at) {
#if defined(__AVX512F__)
    if constexpr (N == 4) {
        __m512 v = _mm512_castps128_ps512(_mm_loadu_ps(from[0] + at));
        v = _mm512_insertf32x4(v, _mm_loadu_ps(from[1] + at), 1);
        v = _mm512_insertf32x4(v, _mm_loadu_ps(from[2] + at), 2);
        return (QuadLanes<N>)_mm512_insertf32x4(v, _mm_loadu_ps(from[3] + at), 3);
    }
#endif
#if defined(__AVX__)
    if constexpr (N == 2)
        return (QuadLanes<N>)_mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(from[0] + at)),
                                                  _mm_loadu_ps(from[1] + at), 1);
#endif
    if constexpr (N == 1) return lanes_at<1>(from[0] + at);
}

/// Rotate each quad: float r gets float (r + By) % 4.
template <int N, int By>
[[gnu::always_inline]] inline QuadLanes<N> rotated(QuadLanes<N> v) {
    constexpr int a = By % 4, b = (By + 1) % 4, c = (By + 2) % 4, d = (By + 3) % 4;
#if defined(__AVX512F__)
    if constexpr (N == 4) return (QuadLanes<N>)_mm512_permute_ps((__m512)v, a | b << 2 | c << 4 | d << 6);
#endif
#if defined(__AVX__)
    if constexpr (N == 2) return (QuadLanes<N>)_mm256_permute_ps((__m256)v, a | b << 2 | c << 4 | d << 6);
#endif
    if constexpr (N == 1) return __builtin_shufflevector(v, v, a, b, c, d);
}

/// Copy float r of each quad to all four positions.
template <int N, int r>
[[gnu::always_inline]] inline QuadLanes<N> every_of_quads(QuadLanes<N> v) {
#if defined(__AVX512F__)
    if constexpr (N == 4) return (QuadLanes<N>)_mm512_permute_ps((__m512)v, r * 0x55);
#endif
#if defined(__AVX__)
    if constexpr (N == 2) return (QuadLanes<N>)_mm256_permute_ps((__m256)v, r * 0x55);
#endif
    if constexpr (N == 1) return __builtin_shufflevector(v, v, r, r, r, r);
}

/// Select floats i and j of each quad of `a`, then floats k and l of `b`.
template <int N, int i, int j, int k, int l>
[[gnu::always_inline]] inline QuadLanes<N> two_and_two(QuadLanes<N> a, QuadLanes<N> b) {
#if defined(__AVX512F__)
    if constexpr (N == 4) return (QuadLanes<N>)_mm512_shuffle_ps((__m512)a, (__m512)b, i | j << 2 | k << 4 | l << 6);
#endif
#if defined(__AVX__)
    if constexpr (N == 2) return (QuadLanes<N>)_mm256_shuffle_ps((__m256)a, (__m256)b, i | j << 2 | k << 4 | l << 6);
#endif
    if constexpr (N == 1) return __builtin_shufflevector(a, b, i, j, k + 4, l + 4);
}

/// Move each float up by one position; the first one gets that of `fill`.
template <int N>
[[gnu::always_inline]] inline QuadLanes<N> up_after(QuadLanes<N> fill, QuadLanes<N> v) {
    const QuadLanes<N> turned = rotated<N, 3>(v);
#if defined(__AVX512F__)
    if constexpr (N == 4) return (QuadLanes<N>)_mm512_mask_blend_ps(0x1111, (__m512)turned, (__m512)fill);
#endif
#if defined(__AVX__)
    if constexpr (N == 2) return (QuadLanes<N>)_mm256_blend_ps((__m256)turned, (__m256)fill, 0x11);
#endif
    if constexpr (N == 1) return __builtin_shufflevector(turned, fill, 4, 1, 2, 3);
}

/// Move each float up by one position; the first one gets 0.
template <int N>
[[gnu::always_inline]] inline QuadLanes<N> up(QuadLanes<N> v) {
    return up_after<N>(QuadLanes<N>{}, v);
}

/// Move each float down by one position; the last one gets 0.
template <int N>
[[gnu::always_inline]] inline QuadLanes<N> down(QuadLanes<N> v) {
    const QuadLanes<N> turned = rotated<N, 1>(v);
#if defined(__AVX512F__)
    if constexpr (N == 4) return (QuadLanes<N>)_mm512_maskz_mov_ps(0x7777, (__m512)turned);
#endif
#if defined(__AVX__)
    if constexpr (N == 2) return (QuadLanes<N>)_mm256_blend_ps((__m256)turned, _mm256_setzero_ps(), 0x88);
#endif
    if constexpr (N == 1) return __builtin_shufflevector(turned, QuadLanes<1>{}, 0, 1, 2, 4);
}

/// Sum each quad in HMMER's order, in all four positions.
template <int N>
[[gnu::always_inline]] inline QuadLanes<N> sum_of_quads(QuadLanes<N> v) {
    v = v + rotated<N, 1>(v);
    return every_of_quads<N, 0>(v + rotated<N, 2>(v));
}

/// Return the largest float of each quad, in all four positions.
template <int N>
[[gnu::always_inline]] inline QuadLanes<N> largest_of_quads(QuadLanes<N> v) {
    v = larger(v, rotated<N, 1>(v));
    return larger(v, rotated<N, 2>(v));
}

/// Return one bit per float: a > b.
template <int N>
[[gnu::always_inline]] inline uint32_t floats_above(QuadLanes<N> a, QuadLanes<N> b) {
#if defined(__AVX512F__)
    if constexpr (N == 4) return _mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_GT_OQ);
#endif
#if defined(__AVX__)
    if constexpr (N == 2) return _mm256_movemask_ps(_mm256_cmp_ps((__m256)a, (__m256)b, _CMP_GT_OQ));
#endif
#if defined(__SSE2__)
    if constexpr (N == 1) return _mm_movemask_ps(_mm_cmpgt_ps((__m128)a, (__m128)b));
#elif defined(__ARM_NEON)
    return bits_of_words((uint32x4_t)(a > b));
#endif
    uint32_t bits = 0;
    for (int l = 0; l < 4 * N; ++l) bits |= (a[l] > b[l] ? 1u : 0u) << l;
    return bits;
}

/// Keep `v` in quads whose bits are set, else 0; the four bits of a quad are all set or all clear.
template <int N>
[[gnu::always_inline]] inline QuadLanes<N> where_bits(uint32_t bits, QuadLanes<N> v) {
#if defined(__AVX512F__)
    if constexpr (N == 4) return (QuadLanes<N>)_mm512_maskz_mov_ps(static_cast<__mmask16>(bits), (__m512)v);
#endif
#if defined(__ARM_NEON)
    return (QuadLanes<N>)(lanes_of_bits<int32_t, 16>(bits) & (Vec<int32_t, 16>)v);
#endif
    for (int l = 0; l < 4 * N; ++l)
        if (!(bits >> l & 1)) v[l] = 0;
    return v;
}

/// Return `seen` with additional bits where a and b differ.
template <int N>
[[gnu::always_inline]] inline QuadLanes<N> with_differences(QuadLanes<N> seen, QuadLanes<N> a, QuadLanes<N> b) {
    using I = Vec<int32_t, 16 * N>;
    return (QuadLanes<N>)((I)seen | ((I)a ^ (I)b));
}

/// Keep `v` in quads with any bit set in `seen`, else 0.
template <int N>
[[gnu::always_inline]] inline QuadLanes<N> where_seen(QuadLanes<N> seen, QuadLanes<N> v) {
    using I = Vec<int32_t, 16 * N>;
    I any = (I)seen | (I)rotated<N, 1>(seen);
    any |= (I)rotated<N, 2>((QuadLanes<N>)any);
    return any != 0 ? v : QuadLanes<N>{};
}

/// Return v & mask; each 32-bit word of the mask is all ones or 0.
template <int N>
[[gnu::always_inline]] inline QuadLanes<N> masked(QuadLanes<N> v, QuadLanes<N> mask) {
    using I = Vec<int32_t, 16 * N>;
    return (QuadLanes<N>)((I)v & (I)mask);
}

}  // namespace tropalign::TROPALIGN_ISA
