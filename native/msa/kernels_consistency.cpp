// Sums of products at the elements of a matrix, for this instruction set; consistency_tile.hpp has the picture.
#include "../simd/vec.hpp"
#include "consistency_tile.hpp"

namespace tropalign::TROPALIGN_ISA {
namespace {

constexpr int kVectors = 4 * kChunkColumns / kVectorBytes;
constexpr int kLanes = kVectorBytes / 4;
constexpr int kMostChunks = 4;
using Products = Vec<int32_t, kVectorBytes>;
using Couples = Vec<int16_t, kVectorBytes>;

/// The products of a row's steps in some chunks.
template <int N>
void sum_steps(const Step *step, const Step *end, const TwinBlocks &blocks, const uint32_t *chunks, int32_t *sums) {
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
        for (int v = 0; v < kVectors; ++v)
            store<int32_t, kVectorBytes>(sums + c * kChunkColumns + v * kLanes, sum[c][v]);
}

void add_products(const SparseRows &own, const StepRows &steps, const TwinBlocks &blocks, int64_t *sums) {
    alignas(64) int32_t found[kMostChunks * kChunkColumns];
    for (int32_t i = 0; i < own.n_rows; ++i) {
        const Step *begin = steps.steps + steps.starts[i], *end = steps.steps + steps.starts[i + 1];
        if (begin == end) continue;
        for (uint32_t e = own.starts[i], row_end = own.starts[i + 1]; e < row_end;) {
            uint32_t chunks[kMostChunks];
            int n = 0;
            const uint32_t first = e;
            for (; e < row_end; ++e) {  // elements of as many chunks as are taken at once
                const uint32_t chunk = own.columns[e] / kChunkColumns;
                if (n && chunks[n - 1] == chunk) continue;
                if (n == kMostChunks) break;
                chunks[n++] = chunk;
            }
            switch (n) {
            case 1: sum_steps<1>(begin, end, blocks, chunks, found); break;
            case 2: sum_steps<2>(begin, end, blocks, chunks, found); break;
            case 3: sum_steps<3>(begin, end, blocks, chunks, found); break;
            default: sum_steps<4>(begin, end, blocks, chunks, found);
            }
            for (uint32_t f = first, c = 0; f < e; ++f) {
                const uint32_t j = own.columns[f];
                while (chunks[c] != j / kChunkColumns) ++c;
                sums[f] += found[c * kChunkColumns + j % kChunkColumns];
            }
        }
    }
}

}  // namespace

extern const ConsistencyKernels consistency_kernels = {add_products};

}  // namespace tropalign::TROPALIGN_ISA
