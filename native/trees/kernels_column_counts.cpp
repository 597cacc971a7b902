// Counts of columns: of two codes a and b,
//
//     z = (a ^ b) | ((a | b) & 0x80)
//
// has its highest bit where one of them is not compared, is 0 where they are equal, and 2 where they differ by a
// transition.
#include <algorithm>

#include "../simd/vec.hpp"
#include "aligned_distances.hpp"

namespace tropalign::TROPALIGN_ISA {
namespace {

/// A bit per byte of z.
struct Masks {
    uint64_t left_out, equal, transition;
};

#if defined(__AVX512BW__)
constexpr int kBytes = 64;
[[gnu::always_inline]] inline Masks masks_of(const uint8_t *a, const uint8_t *b) {
    const __m512i x = _mm512_loadu_si512(a), y = _mm512_loadu_si512(b);
    // (x ^ y) | ((x | y) & 0x80): a table of 8 bits by the bits of x, y and 0x80.
    const __m512i z = _mm512_ternarylogic_epi64(x, y, _mm512_set1_epi8(static_cast<char>(0x80)), 0xBC);
    return {_mm512_movepi8_mask(z), _mm512_testn_epi8_mask(z, z), _mm512_cmpeq_epi8_mask(z, _mm512_set1_epi8(2))};
}
#elif defined(__AVX2__)
constexpr int kBytes = 32;
[[gnu::always_inline]] inline uint64_t bits_of(__m256i mask) {
    return static_cast<uint32_t>(_mm256_movemask_epi8(mask));
}
[[gnu::always_inline]] inline Masks masks_of(const uint8_t *a, const uint8_t *b) {
    const __m256i x = _mm256_loadu_si256((const __m256i *)a), y = _mm256_loadu_si256((const __m256i *)b);
    const __m256i z = _mm256_or_si256(
        _mm256_xor_si256(x, y), _mm256_and_si256(_mm256_or_si256(x, y), _mm256_set1_epi8(static_cast<char>(0x80))));
    return {bits_of(z), bits_of(_mm256_cmpeq_epi8(z, _mm256_setzero_si256())),
            bits_of(_mm256_cmpeq_epi8(z, _mm256_set1_epi8(2)))};
}
#elif defined(__SSE4_1__)
constexpr int kBytes = 16;
[[gnu::always_inline]] inline uint64_t bits_of(__m128i mask) { return static_cast<uint32_t>(_mm_movemask_epi8(mask)); }
[[gnu::always_inline]] inline Masks masks_of(const uint8_t *a, const uint8_t *b) {
    const __m128i x = _mm_loadu_si128((const __m128i *)a), y = _mm_loadu_si128((const __m128i *)b);
    const __m128i z =
        _mm_or_si128(_mm_xor_si128(x, y), _mm_and_si128(_mm_or_si128(x, y), _mm_set1_epi8(static_cast<char>(0x80))));
    return {bits_of(z), bits_of(_mm_cmpeq_epi8(z, _mm_setzero_si128())), bits_of(_mm_cmpeq_epi8(z, _mm_set1_epi8(2)))};
}
#else
constexpr int kBytes = 16;
[[gnu::always_inline]] inline Masks masks_of(const uint8_t *a, const uint8_t *b) {
    Masks masks{0, 0, 0};
    for (int l = 0; l < kBytes; ++l) {
        const auto z = static_cast<uint8_t>((a[l] ^ b[l]) | ((a[l] | b[l]) & 0x80));
        masks.left_out |= static_cast<uint64_t>(z >> 7) << l;
        masks.equal |= static_cast<uint64_t>(z == 0) << l;
        masks.transition |= static_cast<uint64_t>(z == 2) << l;
    }
    return masks;
}
#endif

void count(const uint8_t *row, const uint8_t *others, int64_t n, int64_t n_columns, ColumnCounts *counts) {
    for (int64_t k = 0; k < n; ++k, others += n_columns) {
        int64_t left_out = 0, equal = 0, transitions = 0;
        for (int64_t c = 0; c < n_columns; c += kBytes) {
            const Masks masks = masks_of(row + c, others + c);
            left_out += __builtin_popcountll(masks.left_out);
            equal += __builtin_popcountll(masks.equal);
            transitions += __builtin_popcountll(masks.transition);
        }
        counts[k] = {static_cast<int32_t>(n_columns - left_out), static_cast<int32_t>(equal),
                     static_cast<int32_t>(transitions)};
    }
}

}  // namespace

#define TROPALIGN_STRING_(x) #x
#define TROPALIGN_STRING(x) TROPALIGN_STRING_(x)
extern const ColumnCountKernels column_count_kernels = {TROPALIGN_STRING(TROPALIGN_ISA), count};

}  // namespace tropalign::TROPALIGN_ISA
