// Operations that move bytes between the lanes of a vector: look-ups, widening, interleaving, transposition. With those
// of vec.hpp they are all that an instruction set has to provide.
#pragma once
#include "vec.hpp"

namespace tropalign::TROPALIGN_ISA {

/// Widen the first 8-bit integers at `p`, one per lane. (GCC 12 compiles __builtin_convertvector lane by lane.)
template <class T, int B>
[[gnu::always_inline]] inline Vec<T, B> widen(const int8_t *p) {
    if constexpr (sizeof(T) == 1) return load<T, B>(p);
#if defined(__AVX512BW__)
    else if constexpr (B == 64 && sizeof(T) == 2)
        return (Vec<T, B>)_mm512_cvtepi8_epi16(_mm256_loadu_si256((const __m256i *)p));
    else if constexpr (B == 64) return (Vec<T, B>)_mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)p));
#endif
#if defined(__AVX2__)
    else if constexpr (B == 32 && sizeof(T) == 2)
        return (Vec<T, B>)_mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)p));
    else if constexpr (B == 32) return (Vec<T, B>)_mm256_cvtepi8_epi32(_mm_loadu_si64(p));
#endif
#if defined(__SSE4_1__)
    else if constexpr (sizeof(T) == 2) return (Vec<T, B>)_mm_cvtepi8_epi16(_mm_loadu_si64(p));
    else return (Vec<T, B>)_mm_cvtepi8_epi32(_mm_loadu_si32(p));
#elif defined(__ARM_NEON)
    else if constexpr (sizeof(T) == 2) return (Vec<T, B>)vmovl_s8(vld1_s8(p));
    else {
        int32_t four;
        std::memcpy(&four, p, 4);
        return (Vec<T, B>)vmovl_s16(vget_low_s16(vmovl_s8(vreinterpret_s8_s32(vdup_n_s32(four)))));
    }
#else
    else {
        Vec<T, B> v;
        for (int l = 0; l < Lanes<T, B>::count; ++l) v[l] = p[l];
        return v;
    }
#endif
}

/// Look up bytes of `row` (32 bytes) by `index` (each 0..31).
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
    // Indices 0..15 have bit 7 clear after + 0x70, the others after - 16: pshufb returns 0 where bit 7 is set.
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

/// Shift by one lane: lane l gets lane l - 1 of `v`, lane 0 gets the last lane of `entering`.
template <int Bytes>
[[gnu::always_inline]] inline Vec<int8_t, Bytes> shift_in(Vec<int8_t, Bytes> v, Vec<int8_t, Bytes> entering) {
    using V = Vec<int8_t, Bytes>;
#if defined(__AVX512BW__)
    if constexpr (Bytes == 64) {  // each 16 bytes with the 16 bytes before them
        const __m512i before = _mm512_alignr_epi64((__m512i)v, (__m512i)entering, 6);
        return (V)_mm512_alignr_epi8((__m512i)v, before, 15);
    }
#endif
#if defined(__AVX2__)
    if constexpr (Bytes == 32) {
        const __m256i before = _mm256_permute2x128_si256((__m256i)entering, (__m256i)v, 0x21);
        return (V)_mm256_alignr_epi8((__m256i)v, before, 15);
    }
#endif
#if defined(__SSE4_1__)
    if constexpr (Bytes == 16) return (V)_mm_alignr_epi8((__m128i)v, (__m128i)entering, 15);
#elif defined(__ARM_NEON)
    return (V)vextq_s8((int8x16_t)entering, (int8x16_t)v, 15);
#else
    V out;
    for (int l = 0; l < Bytes; ++l) out[l] = l ? v[l - 1] : entering[Bytes - 1];
    return out;
#endif
}

/// Within each 16 bytes, interleave the first eight bytes of `a` and `b`: a0 b0 a1 b1 ...
template <int B>
[[gnu::always_inline]] inline Vec<int8_t, B> unpack_low(Vec<int8_t, B> a, Vec<int8_t, B> b) {
#if defined(__AVX512BW__)
    if constexpr (B == 64) return (Vec<int8_t, B>)_mm512_unpacklo_epi8((__m512i)a, (__m512i)b);
#endif
#if defined(__AVX2__)
    if constexpr (B == 32) return (Vec<int8_t, B>)_mm256_unpacklo_epi8((__m256i)a, (__m256i)b);
#endif
#if defined(__SSE2__)
    if constexpr (B == 16) return (Vec<int8_t, B>)_mm_unpacklo_epi8((__m128i)a, (__m128i)b);
#else
    return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
#endif
}
/// Within each 16 bytes, interleave the last eight bytes of `a` and `b`: a8 b8 a9 b9 ...
template <int B>
[[gnu::always_inline]] inline Vec<int8_t, B> unpack_high(Vec<int8_t, B> a, Vec<int8_t, B> b) {
#if defined(__AVX512BW__)
    if constexpr (B == 64) return (Vec<int8_t, B>)_mm512_unpackhi_epi8((__m512i)a, (__m512i)b);
#endif
#if defined(__AVX2__)
    if constexpr (B == 32) return (Vec<int8_t, B>)_mm256_unpackhi_epi8((__m256i)a, (__m256i)b);
#endif
#if defined(__SSE2__)
    if constexpr (B == 16) return (Vec<int8_t, B>)_mm_unpackhi_epi8((__m128i)a, (__m128i)b);
#else
    return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
#endif
}

/// Transpose within each 16 bytes: byte r of vector l goes to byte l of vector r.
///
/// Each stage interleaves vector k with vector k + 8. This rotates the eight bits of an address (vector, byte);
/// after four stages the two halves have changed places.
///
///     vector number   byte number               vector number   byte number
///     v3 v2 v1 v0     b3 b2 b1 b0    stage ->   v2 v1 v0 b3     b2 b1 b0 v3
template <int B>
[[gnu::always_inline]] inline void transpose16(Vec<int8_t, B> (&v)[16]) {
    for (int stage = 0; stage < 4; ++stage) {
        Vec<int8_t, B> w[16];
#pragma GCC unroll 8
        for (int k = 0; k < 8; ++k) {
            w[2 * k] = unpack_low<B>(v[k], v[k + 8]);
            w[2 * k + 1] = unpack_high<B>(v[k], v[k + 8]);
        }
#pragma GCC unroll 16
        for (int k = 0; k < 16; ++k) v[k] = w[k];
    }
}

/// Within each 16 bytes, look up bytes of `table` by the low four bits of each index; 0 where bit 7 of the index
/// is set.
template <int B>
[[gnu::always_inline]] inline Vec<int8_t, B> shuffle16(Vec<int8_t, B> table, Vec<int8_t, B> index) {
#if defined(__AVX512BW__)
    if constexpr (B == 64) return (Vec<int8_t, B>)_mm512_shuffle_epi8((__m512i)table, (__m512i)index);
#endif
#if defined(__AVX2__)
    if constexpr (B == 32) return (Vec<int8_t, B>)_mm256_shuffle_epi8((__m256i)table, (__m256i)index);
#endif
#if defined(__SSE4_1__)
    if constexpr (B == 16) return (Vec<int8_t, B>)_mm_shuffle_epi8((__m128i)table, (__m128i)index);
#elif defined(__ARM_NEON)
    // tbl returns 0 for indices beyond the table: keep bit 7 and the low four bits.
    const int8x16_t places = vandq_s8((int8x16_t)index, vdupq_n_s8(static_cast<int8_t>(0x8f)));
    return (Vec<int8_t, B>)vqtbl1q_s8((int8x16_t)table, (uint8x16_t)places);
#else
    Vec<int8_t, B> out;
    for (int k = 0; k < B; ++k) out[k] = index[k] < 0 ? 0 : table[k / 16 * 16 + (index[k] & 15)];
    return out;
#endif
}

/// Shift down by one lane: lane l gets lane l + 1 of `v`, and the last lane gets lane 0 of `entering`.
template <int Bytes>
[[gnu::always_inline]] inline Vec<int8_t, Bytes> shift_out(Vec<int8_t, Bytes> v, Vec<int8_t, Bytes> entering) {
    using V = Vec<int8_t, Bytes>;
#if defined(__AVX512BW__)
    if constexpr (Bytes == 64) {  // each 16 bytes with the 16 bytes after them
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

/// Look up bytes of `table` (128 bytes, aligned to 64) by `index` (each 0..127).
template <int B>
[[gnu::always_inline]] inline Vec<int8_t, B> lookup128(const int8_t *table, Vec<int8_t, B> index) {
#if defined(__AVX512VBMI__)
    if constexpr (B == 64)
        return (Vec<int8_t, B>)_mm512_permutex2var_epi8(_mm512_load_si512(table), (__m512i)index,
                                                        _mm512_load_si512(table + 64));
#endif
    Vec<int8_t, B> out;
    for (int l = 0; l < B; ++l) out[l] = table[index[l] & 127];
    return out;
}

/// Select lane l of `a` if bit `bit` of lane l of `choice` is set, else lane l of `b`.
template <int bit, int B>
[[gnu::always_inline]] inline Vec<int8_t, B> by_bit(Vec<int8_t, B> choice, Vec<int8_t, B> a, Vec<int8_t, B> b) {
#if defined(__AVX512BW__)
    if constexpr (B == 64)
        return (Vec<int8_t, B>)_mm512_mask_blend_epi8(
            _mm512_test_epi8_mask((__m512i)choice, _mm512_set1_epi8(1 << bit)), (__m512i)b, (__m512i)a);
#endif
    return (choice & static_cast<int8_t>(1 << bit)) != 0 ? a : b;
}

/// Look up 16-bit lanes of `table` by `index`, which are lane numbers.
template <int B>
[[gnu::always_inline]] inline Vec<int16_t, B> lookup_words(Vec<int16_t, B> table, Vec<int16_t, B> index) {
#if defined(__AVX512BW__)
    if constexpr (B == 64) return (Vec<int16_t, B>)_mm512_permutexvar_epi16((__m512i)index, (__m512i)table);
#endif
    Vec<int16_t, B> out;
    for (int l = 0; l < B / 2; ++l) out[l] = table[index[l] & (B / 2 - 1)];
    return out;
}

/// Return the highest bit of each byte, one bit per byte.
template <int B>
[[gnu::always_inline]] inline uint64_t top_bits(Vec<uint8_t, B> v) {
#if defined(__AVX512BW__)
    if constexpr (B == 64) return _mm512_movepi8_mask((__m512i)v);
#endif
#if defined(__AVX2__)
    if constexpr (B == 32) return static_cast<uint32_t>(_mm256_movemask_epi8((__m256i)v));
#endif
#if defined(__SSE4_1__)
    if constexpr (B == 16) return static_cast<uint32_t>(_mm_movemask_epi8((__m128i)v));
#elif defined(__ARM_NEON)
    return bits_of_bytes(vcltzq_s8((int8x16_t)v));
#else
    uint64_t bits = 0;
    for (int l = 0; l < B; ++l) bits |= uint64_t{v[l]} >> 7 << l;
    return bits;
#endif
}

/// Return one bit per byte: a == b.
template <int B>
[[gnu::always_inline]] inline uint64_t equal_bits(Vec<uint8_t, B> a, Vec<uint8_t, B> b) {
#if defined(__AVX512BW__)
    if constexpr (B == 64) return _mm512_cmpeq_epi8_mask((__m512i)a, (__m512i)b);
#endif
#if defined(__ARM_NEON)
    return bits_of_bytes((uint8x16_t)(a == b));
#else
    return top_bits<B>((Vec<uint8_t, B>)(a == b));
#endif
}

/// Return kDifferentBits bits per byte, set where the bytes differ. (NEON narrows a byte to four bits.)
inline constexpr int kDifferentBits = kFeatures == Features::neon ? 4 : 1;
template <int B>
[[gnu::always_inline]] inline uint64_t different_bits(Vec<int8_t, B> a, Vec<int8_t, B> b) {
#if defined(__ARM_NEON)
    const uint8x8_t halves = vshrn_n_u16((uint16x8_t)(a != b), 4);
    return vget_lane_u64(vreinterpret_u64_u8(halves), 0);
#else
    return widened(gt_bits<int8_t, B>(a, b)) | widened(gt_bits<int8_t, B>(b, a));
#endif
}

/// Add 1 to each count where a == b.
template <int B>
[[gnu::always_inline]] inline Vec<uint8_t, B> plus_equal(Vec<uint8_t, B> counts, Vec<uint8_t, B> a, Vec<uint8_t, B> b) {
#if defined(__AVX512BW__)
    if constexpr (B == 64)
        return (Vec<uint8_t, B>)_mm512_mask_add_epi8((__m512i)counts, _mm512_cmpeq_epi8_mask((__m512i)a, (__m512i)b),
                                                     (__m512i)counts, _mm512_set1_epi8(1));
#endif
    return counts - (Vec<uint8_t, B>)(a == b);  // lanes that compare equal are all ones, i.e. -1
}

/// Return (a ^ b) | ((a | b) & c).
template <int B>
[[gnu::always_inline]] inline Vec<uint8_t, B> differences_or(Vec<uint8_t, B> a, Vec<uint8_t, B> b, Vec<uint8_t, B> c) {
#if defined(__AVX512BW__)
    if constexpr (B == 64)  // 0xBC is the truth table of the bits of a, b and c
        return (Vec<uint8_t, B>)_mm512_ternarylogic_epi64((__m512i)a, (__m512i)b, (__m512i)c, 0xBC);
#endif
    return (a ^ b) | ((a | b) & c);
}

/// True if any bit is set.
template <int B>
[[gnu::always_inline]] inline bool any_bit(Vec<uint8_t, B> v) {
#if defined(__AVX2__)
    if constexpr (B == 32) return !_mm256_testz_si256((__m256i)v, (__m256i)v);
#endif
#if defined(__SSE4_1__)
    if constexpr (B == 16) return !_mm_testz_si128((__m128i)v, (__m128i)v);
#elif defined(__ARM_NEON)
    return any_set((uint32x4_t)v);
#endif
    uint64_t words[B / 8], all = 0;
    std::memcpy(words, &v, B);
    for (uint64_t word : words) all |= word;
    return all != 0;
}

}  // namespace tropalign::TROPALIGN_ISA
