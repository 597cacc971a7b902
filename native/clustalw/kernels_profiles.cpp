// Scores of the columns of two profiles, as a matrix product of 16-bit numbers accumulated in 32 bits; and the
// recurrence of align.hpp (Gotoh 1982), one row at a time:
//
//     E(i, j) = max(H(i-1, j) - open1(i) - open2(j), E(i-1, j)) - extend1(i)
//     F(i, j) = max over k < j of (H(i, k) + X(k) - open2(k + 1)) - X(j) - open1(i)
//     H(i, j) = max(H(i-1, j-1) + score(i, j), F(i, j), E(i, j))
//
// F, a gap in the first profile, runs along the row: its best start is a running maximum, within a vector in steps
// of 1, 2, 4 and 8 lanes, then with the last lane of the previous vector.
#include "../simd/row_lanes.hpp"
#include "../simd/vec.hpp"
#include "profiles.hpp"

namespace tropalign::TROPALIGN_ISA {
namespace {

using Pairs = Vec<int16_t, kVectorBytes>;
constexpr int kVectorsPerBlock = static_cast<int>(kProfileBlock) / L::count;

[[gnu::always_inline]] inline Pairs letter_pair(const int16_t *at) {
    int32_t both;
    std::memcpy(&both, at, sizeof both);
    return (Pairs)splat<int32_t, kVectorBytes>(both);
}

/// Divide by 10, rounding towards 0 as C does.
[[gnu::always_inline]] inline V tenth(V sum) {
    for (int l = 0; l < L::count; ++l) sum[l] /= 10;
    return sum;
}

/// Score rows [0, Rows) against all blocks.
template <int Rows>
[[gnu::always_inline]] inline void some_rows(const int16_t *first, const FrequencyBlocks &second, int shift,
                                             int32_t *scores, int64_t stride) {
    const int64_t row_size = 2 * int64_t{second.n_pairs};
    const int32_t half = shift > 0 ? 1 << (shift - 1) : 0;
    const int16_t *values = second.values;
    for (int64_t block = 0; block < second.n_blocks; ++block) {
        V sums[Rows][kVectorsPerBlock];
        for (int r = 0; r < Rows; ++r)
            for (int v = 0; v < kVectorsPerBlock; ++v) sums[r][v] = splat<int32_t, kVectorBytes>(half);
        for (int32_t pair = 0; pair < second.n_pairs; ++pair) {
            Pairs frequencies[kVectorsPerBlock];
            for (int v = 0; v < kVectorsPerBlock; ++v)
                frequencies[v] = load<int16_t, kVectorBytes>(values + 2 * v * L::count);
            values += 2 * kProfileBlock;
            for (int r = 0; r < Rows; ++r) {
                const Pairs letters = letter_pair(first + r * row_size + 2 * pair);
                for (int v = 0; v < kVectorsPerBlock; ++v)
                    sums[r][v] += multiply_add<kVectorBytes>(letters, frequencies[v]);
            }
        }
        for (int r = 0; r < Rows; ++r)
            for (int v = 0; v < kVectorsPerBlock; ++v) {
                const V sum = shift > 0 ? sums[r][v] >> shift : tenth(sums[r][v]);
                store<int32_t, kVectorBytes>(scores + r * stride + block * kProfileBlock + v * L::count, sum);
            }
    }
}

void score_rows(const int16_t *first, int64_t n_rows, const FrequencyBlocks &second, int shift, int32_t *scores,
                int64_t stride) {
    const int64_t row_size = 2 * int64_t{second.n_pairs};
    int64_t row = 0;
    for (; row + 4 <= n_rows; row += 4)
        some_rows<4>(first + row * row_size, second, shift, scores + row * stride, stride);
    for (; row < n_rows; ++row) some_rows<1>(first + row * row_size, second, shift, scores + row * stride, stride);
}

constexpr int32_t kLowest = INT32_MIN;

/// Return in each lane the maximum of the lanes up to it.
[[gnu::always_inline]] inline V running_max(V v) {
    const V lowest = splat<int32_t, kVectorBytes>(kLowest);
    v = vmax(v, shifted<1>(lowest, v));
    v = vmax(v, shifted<2>(lowest, v));
    if constexpr (L::count > 4) v = vmax(v, shifted<4>(lowest, v));
    if constexpr (L::count > 8) v = vmax(v, shifted<8>(lowest, v));
    return v;
}

/// Values that a row passes from one vector to the next: those of the vector to the left.
struct Left {
    V above;   // H(i - 1, .)
    V opened;  // H(i, .) + gains, without gaps in the first
    V across;  // maximum of `opened` before each column
};

[[gnu::always_inline]] inline V load_lanes(const int32_t *at) { return load<int32_t, kVectorBytes>(at); }

/// Compute a vector of columns from j on. `inner` has no bits in lanes where gaps in the second are free.
template <bool AllInner>
[[gnu::always_inline]] inline void next_vector(const ProfileRow &row, int64_t j, V inner, Left &left, int at_bit,
                                               uint32_t (&bits)[4]) {
    V down_open = load_lanes(row.down_open + j) + row.open, down_extend = splat<int32_t, kVectorBytes>(row.down_extend);
    if constexpr (!AllInner) {
        down_open &= inner;
        down_extend &= inner;
    }
    const V above = load_lanes(row.best + j);
    const V opens_down = above - down_open, goes_down = load_lanes(row.down + j);
    const V down = vmax(opens_down, goes_down) - down_extend;
    const V diagonal = shifted<1>(left.above, above) + load_lanes(row.scores + j);
    const V without = vmax(diagonal, down);
    const V opened = without + load_lanes(row.gains + j);
    const V opens = shifted<1>(left.opened, opened);
    const V best_open = vmax(running_max(opens), last_of(left.across));
    const V across = best_open - load_lanes(row.extends + j) - row.across_open;
    const V best = vmax(without, across);
    store<int32_t, kVectorBytes>(row.best + j, best);
    store<int32_t, kVectorBytes>(row.down + j, down);
    bits[0] |= lane_bits(best, diagonal) << at_bit;
    bits[1] |= lane_bits(down, vmax(diagonal, across)) << at_bit;
    bits[2] |= lane_bits(opens_down, goes_down) << at_bit;
    bits[3] |= lane_bits(opens, shifted<1>(left.across, best_open)) << at_bit;
    left = {above, opened, best_open};
}

template <bool AllInner>
[[gnu::always_inline]] inline void next_block(const ProfileRow &row, int64_t block, Left &left, StepBits *steps) {
    uint32_t bits[4] = {0, 0, 0, 0};
    for (int v = 0; v < kVectorsPerBlock; ++v) {
        const int64_t j = block * kProfileBlock + v * L::count;
        V inner{};
        if constexpr (!AllInner)
            for (int l = 0; l < L::count; ++l) inner[l] = j + l < row.last ? -1 : 0;
        next_vector<AllInner>(row, j, inner, left, v * L::count, bits);
    }
    steps[block] = {static_cast<uint16_t>(bits[0]), static_cast<uint16_t>(bits[1]), static_cast<uint16_t>(bits[2]),
                    static_cast<uint16_t>(bits[3])};
}

void next_row(const ProfileRow &row, StepBits *steps) {
    const V lowest = splat<int32_t, kVectorBytes>(kLowest);
    Left left{splat<int32_t, kVectorBytes>(row.best_before), splat<int32_t, kVectorBytes>(row.begin + row.begin_gain),
              lowest};
    const int64_t n_inner = row.is_last_free ? row.n_blocks - 1 : row.n_blocks;
    for (int64_t block = 0; block < n_inner; ++block) next_block<true>(row, block, left, steps);
    if (row.is_last_free) next_block<false>(row, row.n_blocks - 1, left, steps);
}

}  // namespace

#define TROPALIGN_STRING_(x) #x
#define TROPALIGN_STRING(x) TROPALIGN_STRING_(x)
extern const ProfileKernels profile_kernels = {TROPALIGN_STRING(TROPALIGN_ISA), score_rows, next_row};

}  // namespace tropalign::TROPALIGN_ISA
