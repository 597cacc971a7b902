// The recurrence of column_align.hpp, a row at a time:
//
//     D(i, j) = max(D(i-1, j-1) + P(i, j), D(i-1, j), D(i, j-1))
//
// The first two come from the row before, all lanes at once. The third makes D the running maximum of the first two
// along the row: within a vector by steps of 1, 2, 4 and 8 lanes, then with the last lane of the vector before.
#include "../simd/vec.hpp"
#include "column_kernels.hpp"

namespace tropalign::TROPALIGN_ISA {
namespace {

using L = Lanes<int32_t, kVectorBytes>;
using V = Vec<int32_t, kVectorBytes>;
constexpr int kVectorsPerBlock = kColumnBlock / L::count;

/// Lane l has what lane l - Step of `v` has; the first lanes have the last ones of `before`.
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

/// A bit per lane: a > b.
[[gnu::always_inline]] inline uint32_t lane_bits(V a, V b) {
#if defined(__AVX512BW__)
    return static_cast<uint32_t>(widened(gt_bits<int32_t, kVectorBytes>(a, b)));
#elif defined(__AVX2__)
    return static_cast<uint32_t>(_mm256_movemask_ps((__m256)(a > b)));
#elif defined(__SSE4_1__)
    return static_cast<uint32_t>(_mm_movemask_ps((__m128)(a > b)));
#else
    const auto mask = a > b;
    uint32_t bits = 0;
    for (int l = 0; l < L::count; ++l) bits |= static_cast<uint32_t>(mask[l] & 1) << l;
    return bits;
#endif
}

/// All lanes as the last one. D never descends along a row and is 0 or more.
[[gnu::always_inline]] inline V last_of(V v) {
#if defined(__AVX512BW__)
    return (V)_mm512_permutexvar_epi32(_mm512_set1_epi32(L::count - 1), (__m512i)v);
#elif defined(__AVX2__)
    return __builtin_shufflevector(v, v, 7, 7, 7, 7, 7, 7, 7, 7);
#else
    return __builtin_shufflevector(v, v, 3, 3, 3, 3);
#endif
}

[[gnu::always_inline]] inline V running_max(V v) {
    const V zero{};
    v = vmax(v, shifted<1>(zero, v));
    v = vmax(v, shifted<2>(zero, v));
    if constexpr (L::count > 4) v = vmax(v, shifted<4>(zero, v));
    if constexpr (L::count > 8) v = vmax(v, shifted<8>(zero, v));
    return v;
}

void next_row(int32_t *best, const int32_t *sums, int shift, int64_t n_columns, uint16_t *not_diagonal,
              uint16_t *not_left) {
    V before_above{}, before{};  // the vectors to the left, in the row above and in this one
    for (int64_t j = 0; j < n_columns; j += kColumnBlock) {
        uint32_t diagonal_bits = 0, left_bits = 0;
        for (int k = 0; k < kVectorsPerBlock; ++k) {
            int32_t *at = best + j + k * L::count;
            const V above = load<int32_t, kVectorBytes>(at);
            const V sum = load<int32_t, kVectorBytes>(sums + j + k * L::count) >> shift;
            const V diagonal = shifted<1>(before_above, above) + sum;
            const V found = vmax(running_max(vmax(diagonal, above)), last_of(before));
            store<int32_t, kVectorBytes>(at, found);
            diagonal_bits |= lane_bits(found, diagonal) << (k * L::count);
            left_bits |= lane_bits(found, shifted<1>(before, found)) << (k * L::count);
            before_above = above;
            before = found;
        }
        not_diagonal[j / kColumnBlock] = static_cast<uint16_t>(diagonal_bits);
        not_left[j / kColumnBlock] = static_cast<uint16_t>(left_bits);
    }
}

}  // namespace

#define TROPALIGN_STRING_(x) #x
#define TROPALIGN_STRING(x) TROPALIGN_STRING_(x)
extern const ColumnKernels column_kernels = {TROPALIGN_STRING(TROPALIGN_ISA), next_row};

}  // namespace tropalign::TROPALIGN_ISA
