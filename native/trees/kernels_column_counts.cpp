// Counts of the columns of two rows that are compared, equal or transitions. For two codes a and b,
//
//     z = (a ^ b) | ((a | b) & 0x80)
//
// has its highest bit set if one of them is not compared, is 0 if they are equal, and 2 if they differ by a
// transition.
#include <algorithm>

#include "../simd/bytes.hpp"
#include "aligned_distances.hpp"

namespace tropalign::TROPALIGN_ISA {
namespace {

/// Properties of z, a bit per byte.
struct Masks {
    uint64_t left_out, equal, transition;
};

constexpr int B = kVectorBytes;
using V = Vec<uint8_t, B>;

[[gnu::always_inline]] inline Masks masks_of(const uint8_t *a, const uint8_t *b) {
    const V z = differences_or<B>(load<uint8_t, B>(a), load<uint8_t, B>(b), splat<uint8_t, B>(0x80));
    return {top_bits<B>(z), equal_bits<B>(z, V{}), equal_bits<B>(z, splat<uint8_t, B>(2))};
}

void count(const uint8_t *row, const uint8_t *others, int64_t n, int64_t n_columns, ColumnCounts *counts) {
    for (int64_t k = 0; k < n; ++k, others += n_columns) {
        int64_t left_out = 0, equal = 0, transitions = 0;
        for (int64_t c = 0; c < n_columns; c += B) {
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
