// Integer vectors of 16, 32 and 64 bytes over the GCC/Clang vector extension: `a + b`, `a - b` and `a > b ? a : b`
// already compile to the best instruction of each instruction set. Intrinsics are needed for comparisons to bits
// and back, for saturating sums, and for the operations of bytes.hpp. tests/native/test_vectors.py compares every
// operation here and there with plain loops, on each instruction set.
//
// The result of a comparison is kept as bits of an integer (`Bits`): the mask registers of AVX-512 as they are,
// movemask elsewhere. A lane owns `bits_per_lane` neighbouring bits (two for 16-bit lanes and four for 32-bit
// lanes before AVX-512, since movemask works on bytes); the lowest of them counts:
//
//     lane             3    2    1    0
//     a > b            no   yes  no   yes
//     Bits, AVX-512    0    1    0    1
//     Bits, movemask   00   11   00   11        16-bit lanes
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif

#ifndef TROPALIGN_ISA
#define TROPALIGN_ISA generic
#endif

namespace tropalign::TROPALIGN_ISA {

/// Features that select the code of kernels. Each one of x86-64 includes the earlier ones.
enum class Features { plain, neon, sse4, avx2, avx512, vbmi };
#if defined(__AVX512VBMI__)
inline constexpr Features kFeatures = Features::vbmi;
#elif defined(__AVX512BW__)
inline constexpr Features kFeatures = Features::avx512;
#elif defined(__AVX2__)
inline constexpr Features kFeatures = Features::avx2;
#elif defined(__SSE4_1__)
inline constexpr Features kFeatures = Features::sse4;
#elif defined(__ARM_NEON)
inline constexpr Features kFeatures = Features::neon;
#else
inline constexpr Features kFeatures = Features::plain;
#endif

inline constexpr int kVectorBytes = kFeatures >= Features::avx512 ? 64 : kFeatures == Features::avx2 ? 32 : 16;
inline constexpr int kVectorRegisters = kVectorBytes == 64 || kFeatures == Features::neon ? 32 : 16;
/// True if one instruction looks bytes up in a table of 128 (lookup128 of bytes.hpp).
inline constexpr bool kLooksUp128 = kFeatures == Features::vbmi;

template <class T, int Bytes>
struct VecType {
    typedef T type __attribute__((vector_size(Bytes)));
};
template <class T, int Bytes>
using Vec = typename VecType<T, Bytes>::type;

template <int N>
struct UintOf;
template <>
struct UintOf<1> {
    using type = uint8_t;
};
template <>
struct UintOf<2> {
    using type = uint16_t;
};
template <>
struct UintOf<4> {
    using type = uint32_t;
};
template <>
struct UintOf<8> {
    using type = uint64_t;
};

template <class T, int Bytes>
struct Lanes {
    static constexpr int count = Bytes / static_cast<int>(sizeof(T));
    static constexpr int bits_per_lane = kVectorBytes == 64 ? 1 : static_cast<int>(sizeof(T));
    static constexpr int mask_bytes = count * bits_per_lane < 8 ? 1 : count * bits_per_lane / 8;
    using Bits = typename UintOf<mask_bytes>::type;
};

template <class V>
[[gnu::always_inline]] inline V vmax(V a, V b) {
    return a > b ? a : b;
}

template <class T, int Bytes>
[[gnu::always_inline]] inline Vec<T, Bytes> splat(T x) {
    return Vec<T, Bytes>{} + x;
}

#if defined(__ARM_NEON)
/// Return one bit per byte of a vector whose bytes are all ones or 0: neighbours are added until each half is one
/// byte.
[[gnu::always_inline]] inline uint16_t bits_of_bytes(uint8x16_t mask) {
    const uint8x16_t weights = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    uint8x16_t sums = vandq_u8(mask, weights);
    for (int k = 0; k < 3; ++k) sums = vpaddq_u8(sums, sums);
    return vgetq_lane_u16(vreinterpretq_u16_u8(sums), 0);
}

/// Return one bit per 32-bit word of a vector whose words are all ones or 0.
[[gnu::always_inline]] inline uint32_t bits_of_words(uint32x4_t mask) {
    const uint32x4_t weights = {1, 2, 4, 8};
    return vaddvq_u32(vandq_u32(mask, weights));
}

/// True if any bit is set.
[[gnu::always_inline]] inline bool any_set(uint32x4_t v) {
    return vget_lane_u64(vreinterpret_u64_u32(vget_low_u32(vpmaxq_u32(v, v))), 0) != 0;
}
#endif

/// Return the bits of the lanes in which a > b.
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
    return bits_of_bytes((uint8x16_t)mask);
#else
    using L = Lanes<T, Bytes>;
    uint64_t bits = 0;
    for (int l = 0; l < L::count; ++l) bits |= (mask[l] ? uint64_t{1} : uint64_t{0}) << (l * L::bits_per_lane);
    return static_cast<typename L::Bits>(bits);
#endif
#endif
}

/// Convert the bits to uint64_t. GCC 12 may spill a mask register of 8 or 16 bits with its own width and read it
/// back as 64 bits (seen with -fsanitize), so a narrow one passes through a general register first.
template <class Bits>
[[gnu::always_inline]] inline uint64_t widened(Bits bits) {
    if constexpr (sizeof(Bits) < 8) asm("" : "+r"(bits));
    return bits;
}

/// True if a > b in any lane.
template <class T, int Bytes>
[[gnu::always_inline]] inline bool any_gt(Vec<T, Bytes> a, Vec<T, Bytes> b) {
#if defined(__ARM_NEON)
    return any_set((uint32x4_t)(a > b));
#else
    return widened(gt_bits<T, Bytes>(a, b)) != 0;
#endif
}

/// Return a + b, saturating; 32-bit lanes wrap.
template <class T, int Bytes>
[[gnu::always_inline]] inline Vec<T, Bytes> adds(Vec<T, Bytes> a, Vec<T, Bytes> b) {
    using V = Vec<T, Bytes>;
    if constexpr (sizeof(T) == 4) return a + b;
#if defined(__AVX512BW__)
    if constexpr (Bytes == 64 && std::is_same_v<T, uint8_t>) return (V)_mm512_adds_epu8((__m512i)a, (__m512i)b);
    if constexpr (Bytes == 64 && std::is_same_v<T, int8_t>) return (V)_mm512_adds_epi8((__m512i)a, (__m512i)b);
    if constexpr (Bytes == 64 && std::is_same_v<T, int16_t>) return (V)_mm512_adds_epi16((__m512i)a, (__m512i)b);
#endif
#if defined(__AVX2__)
    if constexpr (Bytes == 32 && std::is_same_v<T, uint8_t>) return (V)_mm256_adds_epu8((__m256i)a, (__m256i)b);
    if constexpr (Bytes == 32 && std::is_same_v<T, int8_t>) return (V)_mm256_adds_epi8((__m256i)a, (__m256i)b);
    if constexpr (Bytes == 32 && std::is_same_v<T, int16_t>) return (V)_mm256_adds_epi16((__m256i)a, (__m256i)b);
#endif
#if defined(__SSE2__)
    if constexpr (Bytes == 16 && std::is_same_v<T, uint8_t>) return (V)_mm_adds_epu8((__m128i)a, (__m128i)b);
    if constexpr (Bytes == 16 && std::is_same_v<T, int8_t>) return (V)_mm_adds_epi8((__m128i)a, (__m128i)b);
    if constexpr (Bytes == 16 && std::is_same_v<T, int16_t>) return (V)_mm_adds_epi16((__m128i)a, (__m128i)b);
#elif defined(__ARM_NEON)
    if constexpr (std::is_same_v<T, uint8_t>) return (V)vqaddq_u8((uint8x16_t)a, (uint8x16_t)b);
    if constexpr (std::is_same_v<T, int8_t>) return (V)vqaddq_s8((int8x16_t)a, (int8x16_t)b);
    if constexpr (std::is_same_v<T, int16_t>) return (V)vqaddq_s16((int16x8_t)a, (int16x8_t)b);
#endif
    V out;
    for (int l = 0; l < Lanes<T, Bytes>::count; ++l)
        out[l] =
            static_cast<T>(std::clamp<int>(a[l] + b[l], std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
    return out;
}

/// Return a - b, saturating; 32-bit lanes wrap.
template <class T, int Bytes>
[[gnu::always_inline]] inline Vec<T, Bytes> subs(Vec<T, Bytes> a, Vec<T, Bytes> b) {
    using V = Vec<T, Bytes>;
    if constexpr (sizeof(T) == 4) return a - b;
#if defined(__AVX512BW__)
    if constexpr (Bytes == 64 && std::is_same_v<T, uint8_t>) return (V)_mm512_subs_epu8((__m512i)a, (__m512i)b);
    if constexpr (Bytes == 64 && std::is_same_v<T, int8_t>) return (V)_mm512_subs_epi8((__m512i)a, (__m512i)b);
    if constexpr (Bytes == 64 && std::is_same_v<T, int16_t>) return (V)_mm512_subs_epi16((__m512i)a, (__m512i)b);
    if constexpr (Bytes == 64 && std::is_same_v<T, uint16_t>) return (V)_mm512_subs_epu16((__m512i)a, (__m512i)b);
#endif
#if defined(__AVX2__)
    if constexpr (Bytes == 32 && std::is_same_v<T, uint8_t>) return (V)_mm256_subs_epu8((__m256i)a, (__m256i)b);
    if constexpr (Bytes == 32 && std::is_same_v<T, int8_t>) return (V)_mm256_subs_epi8((__m256i)a, (__m256i)b);
    if constexpr (Bytes == 32 && std::is_same_v<T, int16_t>) return (V)_mm256_subs_epi16((__m256i)a, (__m256i)b);
    if constexpr (Bytes == 32 && std::is_same_v<T, uint16_t>) return (V)_mm256_subs_epu16((__m256i)a, (__m256i)b);
#endif
#if defined(__SSE2__)
    if constexpr (Bytes == 16 && std::is_same_v<T, uint8_t>) return (V)_mm_subs_epu8((__m128i)a, (__m128i)b);
    if constexpr (Bytes == 16 && std::is_same_v<T, int8_t>) return (V)_mm_subs_epi8((__m128i)a, (__m128i)b);
    if constexpr (Bytes == 16 && std::is_same_v<T, int16_t>) return (V)_mm_subs_epi16((__m128i)a, (__m128i)b);
    if constexpr (Bytes == 16 && std::is_same_v<T, uint16_t>) return (V)_mm_subs_epu16((__m128i)a, (__m128i)b);
#elif defined(__ARM_NEON)
    if constexpr (std::is_same_v<T, uint8_t>) return (V)vqsubq_u8((uint8x16_t)a, (uint8x16_t)b);
    if constexpr (std::is_same_v<T, int8_t>) return (V)vqsubq_s8((int8x16_t)a, (int8x16_t)b);
    if constexpr (std::is_same_v<T, int16_t>) return (V)vqsubq_s16((int16x8_t)a, (int16x8_t)b);
    if constexpr (std::is_same_v<T, uint16_t>) return (V)vqsubq_u16((uint16x8_t)a, (uint16x8_t)b);
#endif
    V out;
    for (int l = 0; l < Lanes<T, Bytes>::count; ++l)
        out[l] =
            static_cast<T>(std::clamp<int>(a[l] - b[l], std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
    return out;
}

/// Multiply 16-bit lanes and add neighbours: lane l is a[2 l] b[2 l] + a[2 l + 1] b[2 l + 1].
template <int Bytes>
[[gnu::always_inline]] inline Vec<int32_t, Bytes> multiply_add(Vec<int16_t, Bytes> a, Vec<int16_t, Bytes> b) {
    using V = Vec<int32_t, Bytes>;
#if defined(__AVX512BW__)
    if constexpr (Bytes == 64) return (V)_mm512_madd_epi16((__m512i)a, (__m512i)b);
#endif
#if defined(__AVX2__)
    if constexpr (Bytes == 32) return (V)_mm256_madd_epi16((__m256i)a, (__m256i)b);
#endif
#if defined(__SSE2__)
    if constexpr (Bytes == 16) return (V)_mm_madd_epi16((__m128i)a, (__m128i)b);
#elif defined(__ARM_NEON)
    const int16x8_t a8 = (int16x8_t)a, b8 = (int16x8_t)b;
    return (V)vpaddq_s32(vmull_s16(vget_low_s16(a8), vget_low_s16(b8)), vmull_high_s16(a8, b8));
#endif
    V out;
    for (int l = 0; l < Lanes<int32_t, Bytes>::count; ++l)
        out[l] = static_cast<int32_t>(static_cast<uint32_t>(a[2 * l] * b[2 * l]) +
                                      static_cast<uint32_t>(a[2 * l + 1] * b[2 * l + 1]));
    return out;
}

/// Set all bits of lane l if bit l is set.
template <class T, int Bytes>
[[gnu::always_inline]] inline Vec<T, Bytes> lanes_of_bits(uint64_t bits) {
    using V = Vec<T, Bytes>;
#if defined(__AVX512BW__)
    if constexpr (Bytes == 64 && sizeof(T) == 1) return (V)_mm512_movm_epi8(bits);
    if constexpr (Bytes == 64 && sizeof(T) == 2) return (V)_mm512_movm_epi16(static_cast<__mmask32>(bits));
#endif
#if defined(__SSE4_1__)
    if constexpr (sizeof(T) == 1) {  // each lane gets the byte that contains its bit
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
#elif defined(__ARM_NEON)
    if constexpr (sizeof(T) == 1) {
        const uint8x16_t picks = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1};
        const uint8x16_t weights = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
        const uint8x16_t bytes = vreinterpretq_u8_u64(vsetq_lane_u64(bits, vdupq_n_u64(0), 0));
        return (V)vtstq_u8(vqtbl1q_u8(bytes, picks), weights);
    }
    if constexpr (sizeof(T) == 2) {
        const uint16x8_t weights = {1, 2, 4, 8, 16, 32, 64, 128};
        return (V)vtstq_u16(vdupq_n_u16(static_cast<uint16_t>(bits)), weights);
    }
    if constexpr (sizeof(T) == 4) {
        const uint32x4_t weights = {1, 2, 4, 8};
        return (V)vtstq_u32(vdupq_n_u32(static_cast<uint32_t>(bits)), weights);
    }
#endif
    V weights{}, spread;
    constexpr int bits_per_part = 8 * sizeof(T);  // a lane of b bits gets b bits
    for (int l = 0; l < Lanes<T, Bytes>::count; ++l) {
        weights[l] = static_cast<T>(uint64_t{1} << (l % bits_per_part));
        spread[l] = static_cast<T>(bits >> (l / bits_per_part * bits_per_part));
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
[[gnu::always_inline]] inline void store(void *p, Vec<T, Bytes> v) {
    std::memcpy(p, &v, Bytes);
}

/// Write the lanes whose bit is set, one after another; the memory after them is undefined, up to a whole vector.
template <int Bytes>
[[gnu::always_inline]] inline void store_chosen(uint32_t *p, Vec<int32_t, Bytes> v, uint32_t bits) {
#if defined(__AVX512BW__)
    if constexpr (Bytes == 64) {
        _mm512_storeu_si512(p, _mm512_maskz_compress_epi32(static_cast<__mmask16>(bits), (__m512i)v));
        return;
    }
#endif
    for (int l = 0; l < Bytes / 4; ++l)
        if (bits >> l & 1) *p++ = static_cast<uint32_t>(v[l]);
}

}  // namespace tropalign::TROPALIGN_ISA
