// Sums over z of wz Sxz Szy in the chunks of a matrix (formula and sources in consistency.hpp, picture in
// consistency_tile.hpp).
#include "../simd/vec.hpp"
#include "consistency_tile.hpp"

namespace tropalign::TROPALIGN_ISA {
namespace {

constexpr int kVectors = 4 * kChunkColumns / kVectorBytes;
constexpr int kLanes = kVectorBytes / 4;
using Products = Vec<int32_t, kVectorBytes>;
using Couples = Vec<int16_t, kVectorBytes>;

/// Sum the products of a row's steps in N chunks; a step is read once for all of them.
template <int N>
void sum_steps(const Step *step, const Step *end, const TwinBlocks &blocks, const uint16_t *chunks, int shift,
               int32_t *sums) {
    const uint32_t *table[N];
    for (int c = 0; c < N; ++c) table[c] = blocks.table + chunks[c];
    Products sum[N][kVectors] = {};
    for (; step < end; ++step) {
        int32_t both;
        std::memcpy(&both, &step->even, 4);
        const auto factor = (Couples)splat<int32_t, kVectorBytes>(both);
        for (int c = 0; c < N; ++c) {
            const int32_t *block = blocks.couples + table[c][step->twin];
            for (int v = 0; v < kVectors; ++v)
                sum[c][v] += multiply_add<kVectorBytes>(factor, load<int16_t, kVectorBytes>(block + v * kLanes));
        }
    }
    for (int c = 0; c < N; ++c)
        for (int v = 0; v < kVectors; ++v) {
            int32_t *at = sums + c * kChunkColumns + v * kLanes;
            store<int32_t, kVectorBytes>(at, load<int32_t, kVectorBytes>(at) + (sum[c][v] >> shift));
        }
}

void add_products(const ChunkRows &rows, const StepRows &steps, const TwinBlocks &blocks, int shift, int32_t *sums) {
    constexpr uint32_t kAtOnce = kVectors <= 2 ? 4 : 2;  // as many as fit registers
    using Sum = decltype(&sum_steps<1>);
    constexpr Sum by_count[] = {nullptr, sum_steps<1>, sum_steps<2>, sum_steps<3>, sum_steps<4>};
    for (int32_t i = 0; i < rows.n_rows; ++i) {
        const Step *begin = steps.steps + steps.begins[i], *end = steps.steps + steps.ends[i];
        uint32_t n;
        for (uint32_t c = rows.starts[i]; begin < end && c < rows.starts[i + 1]; c += n) {
            n = std::min(rows.starts[i + 1] - c, kAtOnce);
            int32_t *at = sums + size_t{c} * kChunkColumns;
            if (n == 1) sum_steps<1>(begin, end, blocks, rows.chunks + c, shift, at);
            else by_count[n](begin, end, blocks, rows.chunks + c, shift, at);
        }
    }
}

}  // namespace

extern const ConsistencyKernels consistency_kernels = {add_products};

}  // namespace tropalign::TROPALIGN_ISA
