// Integer vectors of 16, 32 and 64 bytes over the GCC/Clang vector extension: `a + b`, `a - b` and
// `a > b ? a : b` already compile to the best instruction of each instruction set, so that only the
// three operations below need an intrinsic: compare-to-bits, byte look-up and whole-vector tests.
//
// A lane's answer to a comparison is kept as bits of an integer (`Bits`): the mask registers of
// AVX-512 as they are, movemask elsewhere. A lane owns `bits_a_lane` neighbouring bits of it (two for
// 16-bit lanes and four for 32-bit lanes before AVX-512: movemask speaks bytes); its lowest one counts.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif

#ifndef TROPALIGN_ISA
#define TROPALIGN_ISA generic
#endif

namespace tropalign::TROPALIGN_ISA {

#if defined(__AVX512BW__)
inline constexpr int kVectorBytes = 64;
#elif defined(__AVX2__)
inline constexpr int kVectorBytes = 32;
#else
inline constexpr int kVectorBytes = 16;
#endif

template <class T, int Bytes>
struct VecType {
    typedef T type __attribute__((vector_size(Bytes)));
};
template <class T, int Bytes>
using Vec = typename VecType<T, Bytes>::type;

template <int N>
struct UintOf;
template <>
struct UintOf<1> { using type = uint8_t; };
template <>
struct UintOf<2> { using type = uint16_t; };
template <>
struct UintOf<4> { using type = uint32_t; };
template <>
struct UintOf<8> { using type = uint64_t; };

template <class T, int Bytes>
struct Lanes {
    static constexpr int count = Bytes / static_cast<int>(sizeof(T));
#if defined(__AVX512BW__)
    static constexpr int bits_a_lane = 1;
#else
    static constexpr int bits_a_lane = static_cast<int>(sizeof(T));
#endif
    static constexpr int mask_bytes = count * bits_a_lane < 8 ? 1 : count * bits_a_lane / 8;
    using Bits = typename UintOf<mask_bytes>::type;
};

template <class V>
[[gnu::always_inline]] inline V vmax(V a, V b) { return a > b ? a : b; }

template <class T, int Bytes>
[[gnu::always_inline]] inline Vec<T, Bytes> splat(T x) { return Vec<T, Bytes>{} + x; }

/// Bits of the lanes in which a > b.
template <class T, int Bytes>
[[gnu::always_inline]] inline typename Lanes<T, Bytes>::Bits gt_bits(Vec<T, Bytes> a, Vec<T, Bytes> b) {
#if defined(__AVX512BW__)
    if constexpr (Bytes == 64) {
        if constexpr (sizeof(T) == 1) return _mm512_cmpgt_epi8_mask((__m512i)a, (__m512i)b);
        if constexpr (sizeof(T) == 2) return _mm512_cmpgt_epi16_mask((__m512i)a, (__m512i)b);
        if constexpr (sizeof(T) == 4) return _mm512_cmpgt_epi32_mask((__m512i)a, (__m512i)b);
    } else if constexpr (Bytes == 32) {
        if constexpr (sizeof(T) == 1) return _mm256_cmpgt_epi8_mask((__m256i)a, (__m256i)b);
        if constexpr (sizeof(T) == 2) return _mm256_cmpgt_epi16_mask((__m256i)a, (__m256i)b);
        if constexpr (sizeof(T) == 4) return _mm256_cmpgt_epi32_mask((__m256i)a, (__m256i)b);
    } else {
        if constexpr (sizeof(T) == 1) return _mm_cmpgt_epi8_mask((__m128i)a, (__m128i)b);
        if constexpr (sizeof(T) == 2) return _mm_cmpgt_epi16_mask((__m128i)a, (__m128i)b);
        if constexpr (sizeof(T) == 4) return _mm_cmpgt_epi32_mask((__m128i)a, (__m128i)b);
    }
#else
    auto mask = a > b;
#if defined(__AVX2__)
    if constexpr (Bytes == 32) return static_cast<uint32_t>(_mm256_movemask_epi8((__m256i)mask));
#endif
#if defined(__SSE4_1__)
    if constexpr (Bytes == 16) return static_cast<uint16_t>(_mm_movemask_epi8((__m128i)mask));
#elif defined(__ARM_NEON)
    // A bit a byte, added up in each half.
    const uint8x16_t weights = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    const uint8x16_t weighed = vandq_u8((uint8x16_t)mask, weights);
    return static_cast<uint16_t>(vaddv_u8(vget_low_u8(weighed)) | vaddv_u8(vget_high_u8(weighed)) << 8);
#else
    using L = Lanes<T, Bytes>;
    uint64_t bits = 0;
    for (int l = 0; l < L::count; ++l) bits |= (mask[l] ? uint64_t{1} : uint64_t{0}) << (l * L::bits_a_lane);
    return static_cast<typename L::Bits>(bits);
#endif
#endif
}

/// The bits as a whole number. GCC 12 may spill a mask register of 8 or 16 bits with its own width and read it back as 64
/// (seen with -fsanitize), so a narrow one passes through a general register first.
template <class Bits>
[[gnu::always_inline]] inline uint64_t widened(Bits bits) {
    if constexpr (sizeof(Bits) < 8) asm("" : "+r"(bits));
    return bits;
}

/// True where any lane has a > b.
template <class T, int Bytes>
[[gnu::always_inline]] inline bool any_gt(Vec<T, Bytes> a, Vec<T, Bytes> b) {
    return widened(gt_bits<T, Bytes>(a, b)) != 0;
}

/// Bytes of `row` (32 of them) picked by `index` (each 0..31).
template <int Bytes>
[[gnu::always_inline]] inline Vec<int8_t, Bytes> lookup32(const int8_t *row, Vec<int8_t, Bytes> index) {
    using V = Vec<int8_t, Bytes>;
#if defined(__AVX512VBMI__)
    if constexpr (Bytes == 64) {
        __m512i table = _mm512_castsi256_si512(_mm256_loadu_si256((const __m256i *)row));
        return (V)_mm512_permutexvar_epi8((__m512i)index, table);
    } else if constexpr (Bytes == 32) {
        return (V)_mm256_permutexvar_epi8((__m256i)index, _mm256_loadu_si256((const __m256i *)row));
    }
#endif
#if defined(__SSE4_1__)
    // Indices 0..15 keep bit 7 clear after + 0x70, the others after - 16: pshufb gives 0 where bit 7 is set.
    V low = index + static_cast<int8_t>(0x70), high = index - static_cast<int8_t>(16);
    __m128i row_low = _mm_loadu_si128((const __m128i *)row), row_high = _mm_loadu_si128((const __m128i *)(row + 16));
#if defined(__AVX512BW__)
    if constexpr (Bytes == 64)
        return (V)_mm512_or_si512(_mm512_shuffle_epi8(_mm512_broadcast_i32x4(row_low), (__m512i)low),
                                  _mm512_shuffle_epi8(_mm512_broadcast_i32x4(row_high), (__m512i)high));
#endif
#if defined(__AVX2__)
    if constexpr (Bytes == 32)
        return (V)_mm256_or_si256(_mm256_shuffle_epi8(_mm256_broadcastsi128_si256(row_low), (__m256i)low),
                                  _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(row_high), (__m256i)high));
#endif
    if constexpr (Bytes == 16)
        return (V)_mm_or_si128(_mm_shuffle_epi8(row_low, (__m128i)low), _mm_shuffle_epi8(row_high, (__m128i)high));
#elif defined(__ARM_NEON)
    const int8x16x2_t table = {vld1q_s8(row), vld1q_s8(row + 16)};
    return (V)vqtbl2q_s8(table, (uint8x16_t)index);
#else
    V out;
    for (int l = 0; l < Bytes; ++l) out[l] = row[index[l] & 31];
    return out;
#endif
}

/// a + b, or the nearest number of the type. 32-bit lanes wrap.
template <class T, int Bytes>
[[gnu::always_inline]] inline Vec<T, Bytes> adds(Vec<T, Bytes> a, Vec<T, Bytes> b) {
    using V = Vec<T, Bytes>;
    if constexpr (sizeof(T) == 4) return a + b;
#if defined(__AVX512BW__)
    if constexpr (Bytes == 64 && sizeof(T) == 1) return (V)_mm512_adds_epi8((__m512i)a, (__m512i)b);
    if constexpr (Bytes == 64 && sizeof(T) == 2) return (V)_mm512_adds_epi16((__m512i)a, (__m512i)b);
#endif
#if defined(__AVX2__)
    if constexpr (Bytes == 32 && sizeof(T) == 1) return (V)_mm256_adds_epi8((__m256i)a, (__m256i)b);
    if constexpr (Bytes == 32 && sizeof(T) == 2) return (V)_mm256_adds_epi16((__m256i)a, (__m256i)b);
#endif
#if defined(__SSE2__)
    if constexpr (Bytes == 16 && sizeof(T) == 1) return (V)_mm_adds_epi8((__m128i)a, (__m128i)b);
    if constexpr (Bytes == 16 && sizeof(T) == 2) return (V)_mm_adds_epi16((__m128i)a, (__m128i)b);
#elif defined(__ARM_NEON)
    if constexpr (sizeof(T) == 1) return (V)vqaddq_s8((int8x16_t)a, (int8x16_t)b);
    if constexpr (sizeof(T) == 2) return (V)vqaddq_s16((int16x8_t)a, (int16x8_t)b);
#endif
    V out;
    for (int l = 0; l < Lanes<T, Bytes>::count; ++l)
        out[l] = static_cast<T>(std::clamp<int>(a[l] + b[l], std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
    return out;
}

/// a - b likewise.
template <class T, int Bytes>
[[gnu::always_inline]] inline Vec<T, Bytes> subs(Vec<T, Bytes> a, Vec<T, Bytes> b) {
    using V = Vec<T, Bytes>;
    if constexpr (sizeof(T) == 4) return a - b;
#if defined(__AVX512BW__)
    if constexpr (Bytes == 64 && sizeof(T) == 1) return (V)_mm512_subs_epi8((__m512i)a, (__m512i)b);
    if constexpr (Bytes == 64 && sizeof(T) == 2) return (V)_mm512_subs_epi16((__m512i)a, (__m512i)b);
#endif
#if defined(__AVX2__)
    if constexpr (Bytes == 32 && sizeof(T) == 1) return (V)_mm256_subs_epi8((__m256i)a, (__m256i)b);
    if constexpr (Bytes == 32 && sizeof(T) == 2) return (V)_mm256_subs_epi16((__m256i)a, (__m256i)b);
#endif
#if defined(__SSE2__)
    if constexpr (Bytes == 16 && sizeof(T) == 1) return (V)_mm_subs_epi8((__m128i)a, (__m128i)b);
    if constexpr (Bytes == 16 && sizeof(T) == 2) return (V)_mm_subs_epi16((__m128i)a, (__m128i)b);
#elif defined(__ARM_NEON)
    if constexpr (sizeof(T) == 1) return (V)vqsubq_s8((int8x16_t)a, (int8x16_t)b);
    if constexpr (sizeof(T) == 2) return (V)vqsubq_s16((int16x8_t)a, (int16x8_t)b);
#endif
    V out;
    for (int l = 0; l < Lanes<T, Bytes>::count; ++l)
        out[l] = static_cast<T>(std::clamp<int>(a[l] - b[l], std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
    return out;
}

/// All bits of lane l set where bit l is.
template <class T, int Bytes>
[[gnu::always_inline]] inline Vec<T, Bytes> lanes_of_bits(uint64_t bits) {
    using V = Vec<T, Bytes>;
#if defined(__AVX512BW__)
    if constexpr (Bytes == 64 && sizeof(T) == 1) return (V)_mm512_movm_epi8(bits);
    if constexpr (Bytes == 64 && sizeof(T) == 2) return (V)_mm512_movm_epi16(static_cast<__mmask32>(bits));
#endif
#if defined(__SSE4_1__)
    if constexpr (sizeof(T) == 1) {  // each lane gets the byte that has its bit
        const __m128i picks = _mm_set_epi64x(0x0101010101010101, 0), weights = _mm_set1_epi64x(0x8040201008040201);
#if defined(__AVX2__)
        if constexpr (Bytes == 32) {
            const __m256i all = _mm256_set1_epi32(static_cast<int>(bits)), two = _mm256_set1_epi8(2);
            const __m256i pick = _mm256_inserti128_si256(_mm256_broadcastsi128_si256(picks),
                                                         _mm_add_epi8(picks, _mm256_castsi256_si128(two)), 1);
            const __m256i weight = _mm256_broadcastsi128_si256(weights);
            return (V)_mm256_cmpeq_epi8(_mm256_and_si256(_mm256_shuffle_epi8(all, pick), weight), weight);
        }
#endif
        if constexpr (Bytes == 16) {
            const __m128i spread = _mm_shuffle_epi8(_mm_set1_epi16(static_cast<short>(bits)), picks);
            return (V)_mm_cmpeq_epi8(_mm_and_si128(spread, weights), weights);
        }
    }
#endif
    V weights{}, spread;
    constexpr int bits_a_part = 8 * sizeof(T);  // a lane sees as many bits as it has
    for (int l = 0; l < Lanes<T, Bytes>::count; ++l) {
        weights[l] = static_cast<T>(uint64_t{1} << (l % bits_a_part));
        spread[l] = static_cast<T>(bits >> (l / bits_a_part * bits_a_part));
    }
    return (spread & weights) == weights;
}

template <class T, int Bytes>
[[gnu::always_inline]] inline Vec<T, Bytes> load(const void *p) {
    Vec<T, Bytes> v;
    std::memcpy(&v, p, Bytes);
    return v;
}
template <class T, int Bytes>
[[gnu::always_inline]] inline void store(void *p, Vec<T, Bytes> v) { std::memcpy(p, &v, Bytes); }

}  // namespace tropalign::TROPALIGN_ISA
