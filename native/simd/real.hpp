// Vectors of floats and doubles, and single numbers as vectors of one lane. `+ - *` work as they are; the
// functions here need an intrinsic for each instruction set. Sums of products are fused if the instruction set
// can, and only here (the kernels are compiled with -ffp-contract=off), so that all sets but SSE compute the same.
#pragma once
#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

#include "vec.hpp"

namespace tropalign::TROPALIGN_ISA {

/// Element type and number of lanes of a vector V of real numbers.
template <class V>
struct Real {
    using T = std::remove_cvref_t<decltype(V{}[0])>;
    static constexpr int lanes = static_cast<int>(sizeof(V) / sizeof(T));
};
template <class V>
    requires std::is_floating_point_v<V>
struct Real<V> {
    using T = V;
    static constexpr int lanes = 1;
};

template <class V>
[[gnu::always_inline]] inline V every(typename Real<V>::T x) {
    return V{} + x;
}

template <class V>
[[gnu::always_inline]] inline typename Real<V>::T lane_of(const V &v, int l) {
    if constexpr (Real<V>::lanes == 1) return (void)l, v;
    else return v[l];
}

/// True if fma rounds once.
template <class V>
#if defined(__FMA__) || defined(__ARM_NEON)
inline constexpr bool kFused = sizeof(typename Real<V>::T) <= 8 && !std::is_same_v<V, double>;
#else
inline constexpr bool kFused = false;
#endif

/// Return a * b + c.
template <class V>
[[gnu::always_inline]] inline V fma(V a, V b, V c) {
    using T [[maybe_unused]] = typename Real<V>::T;
#if defined(TROPALIGN_UNFUSED)  // by tests/other_processors/test_sources.py, to find other fused operations
    return a * b + c;
#endif
#if defined(__AVX512F__)
    if constexpr (sizeof(V) == 64 && sizeof(T) == 4) return (V)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
    if constexpr (sizeof(V) == 64 && sizeof(T) == 8) return (V)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
#endif
#if defined(__FMA__)
    if constexpr (sizeof(V) == 32 && sizeof(T) == 4) return (V)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
    if constexpr (sizeof(V) == 32 && sizeof(T) == 8) return (V)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
    if constexpr (sizeof(V) == 16 && sizeof(T) == 4) return (V)_mm_fmadd_ps((__m128)a, (__m128)b, (__m128)c);
    if constexpr (sizeof(V) == 16 && sizeof(T) == 8) return (V)_mm_fmadd_pd((__m128d)a, (__m128d)b, (__m128d)c);
    if constexpr (std::is_same_v<V, float>) return __builtin_fmaf(a, b, c);
#elif defined(__ARM_NEON)
    if constexpr (std::is_same_v<V, float>) return __builtin_fmaf(a, b, c);
    if constexpr (sizeof(V) == 16 && sizeof(T) == 4)
        return (V)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);
    if constexpr (sizeof(V) == 16 && sizeof(T) == 8)
        return (V)vfmaq_f64((float64x2_t)c, (float64x2_t)a, (float64x2_t)b);
#endif
    return a * b + c;
}

/// Return the larger one; b if either is NaN.
template <class V>
[[gnu::always_inline]] inline V larger(V a, V b) {
    using T [[maybe_unused]] = typename Real<V>::T;
#if defined(__AVX512F__)
    if constexpr (sizeof(V) == 64 && sizeof(T) == 4) return (V)_mm512_max_ps((__m512)a, (__m512)b);
    if constexpr (sizeof(V) == 64 && sizeof(T) == 8) return (V)_mm512_max_pd((__m512d)a, (__m512d)b);
#endif
#if defined(__AVX__)
    if constexpr (sizeof(V) == 32 && sizeof(T) == 4) return (V)_mm256_max_ps((__m256)a, (__m256)b);
    if constexpr (sizeof(V) == 32 && sizeof(T) == 8) return (V)_mm256_max_pd((__m256d)a, (__m256d)b);
#endif
#if defined(__SSE2__)
    if constexpr (sizeof(V) == 16 && sizeof(T) == 4) return (V)_mm_max_ps((__m128)a, (__m128)b);
    if constexpr (sizeof(V) == 16 && sizeof(T) == 8) return (V)_mm_max_pd((__m128d)a, (__m128d)b);
#endif
    return a > b ? a : b;
}

/// Return the smaller one; b if either is NaN.
template <class V>
[[gnu::always_inline]] inline V smaller(V a, V b) {
    using T [[maybe_unused]] = typename Real<V>::T;
#if defined(__AVX512F__)
    if constexpr (sizeof(V) == 64 && sizeof(T) == 4) return (V)_mm512_min_ps((__m512)a, (__m512)b);
    if constexpr (sizeof(V) == 64 && sizeof(T) == 8) return (V)_mm512_min_pd((__m512d)a, (__m512d)b);
#endif
#if defined(__AVX__)
    if constexpr (sizeof(V) == 32 && sizeof(T) == 4) return (V)_mm256_min_ps((__m256)a, (__m256)b);
    if constexpr (sizeof(V) == 32 && sizeof(T) == 8) return (V)_mm256_min_pd((__m256d)a, (__m256d)b);
#endif
#if defined(__SSE2__)
    if constexpr (sizeof(V) == 16 && sizeof(T) == 4) return (V)_mm_min_ps((__m128)a, (__m128)b);
    if constexpr (sizeof(V) == 16 && sizeof(T) == 8) return (V)_mm_min_pd((__m128d)a, (__m128d)b);
#endif
    return a < b ? a : b;
}

template <class V>
[[gnu::always_inline]] inline V root(V a) {
    using T [[maybe_unused]] = typename Real<V>::T;
#if defined(__AVX512F__)
    if constexpr (sizeof(V) == 64 && sizeof(T) == 4) return (V)_mm512_sqrt_ps((__m512)a);
    if constexpr (sizeof(V) == 64 && sizeof(T) == 8) return (V)_mm512_sqrt_pd((__m512d)a);
#endif
#if defined(__AVX__)
    if constexpr (sizeof(V) == 32 && sizeof(T) == 4) return (V)_mm256_sqrt_ps((__m256)a);
    if constexpr (sizeof(V) == 32 && sizeof(T) == 8) return (V)_mm256_sqrt_pd((__m256d)a);
#endif
#if defined(__SSE2__)
    if constexpr (sizeof(V) == 16 && sizeof(T) == 4) return (V)_mm_sqrt_ps((__m128)a);
    if constexpr (sizeof(V) == 16 && sizeof(T) == 8) return (V)_mm_sqrt_pd((__m128d)a);
#elif defined(__ARM_NEON)
    if constexpr (sizeof(V) == 16 && sizeof(T) == 4) return (V)vsqrtq_f32((float32x4_t)a);
    if constexpr (sizeof(V) == 16 && sizeof(T) == 8) return (V)vsqrtq_f64((float64x2_t)a);
#endif
    if constexpr (Real<V>::lanes == 1) return std::sqrt(a);
    else {
        for (int l = 0; l < Real<V>::lanes; ++l) a[l] = std::sqrt(a[l]);
        return a;
    }
}

/// Return one bit per lane: bit l is set if a >= b in lane l.
template <class V>
[[gnu::always_inline]] inline uint32_t lanes_at_least(V a, V b) {
    using T [[maybe_unused]] = typename Real<V>::T;
#if defined(__AVX512F__)
    if constexpr (sizeof(V) == 64 && sizeof(T) == 4) return _mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_GE_OQ);
    if constexpr (sizeof(V) == 64 && sizeof(T) == 8) return _mm512_cmp_pd_mask((__m512d)a, (__m512d)b, _CMP_GE_OQ);
#endif
#if defined(__AVX__)
    if constexpr (sizeof(V) == 32 && sizeof(T) == 4)
        return _mm256_movemask_ps(_mm256_cmp_ps((__m256)a, (__m256)b, _CMP_GE_OQ));
    if constexpr (sizeof(V) == 32 && sizeof(T) == 8)
        return _mm256_movemask_pd(_mm256_cmp_pd((__m256d)a, (__m256d)b, _CMP_GE_OQ));
#endif
#if defined(__SSE2__)
    if constexpr (sizeof(V) == 16 && sizeof(T) == 4) return _mm_movemask_ps(_mm_cmpge_ps((__m128)a, (__m128)b));
    if constexpr (sizeof(V) == 16 && sizeof(T) == 8) return _mm_movemask_pd(_mm_cmpge_pd((__m128d)a, (__m128d)b));
#elif defined(__ARM_NEON)
    if constexpr (sizeof(V) == 16 && sizeof(T) == 4) return bits_of_words((uint32x4_t)(a >= b));
#endif
    uint32_t bits = 0;
    for (int l = 0; l < Real<V>::lanes; ++l) bits |= (lane_of(a, l) >= lane_of(b, l) ? 1u : 0u) << l;
    return bits;
}

/// Set all lanes to x; a zero keeps its sign.
template <class V, class T>
[[gnu::always_inline]] inline V spread(T x) {
    return [&]<int... l>(std::integer_sequence<int, l...>) {
        return V{((void)l, x)...};
    }(std::make_integer_sequence<int, sizeof(V) / sizeof(T)>{});
}

/// Return the highest lane of a vector of doubles without NaN.
template <class V>
[[gnu::always_inline]] inline double highest_lane(V v) {
#if defined(__AVX512F__)
    if constexpr (sizeof(V) == 64) return _mm512_reduce_max_pd((__m512d)v);
#endif
    double highest = v[0];
    for (int l = 1; l < Real<V>::lanes; ++l) highest = std::max(highest, v[l]);
    return highest;
}

/// Look up floats by `index` among the 2 n floats of two vectors.
template <class V>
[[gnu::always_inline]] inline V picked(V low, V high, Vec<int32_t, sizeof(V)> index) {
#if defined(__AVX512F__)
    if constexpr (sizeof(V) == 64) return (V)_mm512_permutex2var_ps((__m512)low, (__m512i)index, (__m512)high);
#endif
#if defined(__ARM_NEON)
    if constexpr (sizeof(V) == 16) {  // four bytes of each float, in a table of 32
        const uint32x4_t bytes = vmlaq_u32(vdupq_n_u32(0x03020100), (uint32x4_t)index, vdupq_n_u32(0x04040404));
        const uint8x16x2_t table = {(uint8x16_t)low, (uint8x16_t)high};
        return (V)vqtbl2q_u8(table, vreinterpretq_u8_u32(bytes));
    }
#endif
    constexpr int n = Real<V>::lanes;
    V out;
    for (int l = 0; l < n; ++l) out[l] = (index[l] & n ? high : low)[index[l] & (n - 1)];
    return out;
}

}  // namespace tropalign::TROPALIGN_ISA
