// Floyd-Warshall (Floyd 1962; Warshall 1962) over a block of vertices:
//
//     for k, for i:  D(i, j) = min(D(i, j), D(i, k) + D(k, j))     for all j at once
//
// D(k, k) is 0 at step k, so that row k and column k keep their values then.
#include "closure.hpp"

namespace tropalign::TROPALIGN_ISA {
namespace {

template <class T, bool HasVia>
int64_t close_vertices(const ClosureBlock<T> &block) {
    for (int64_t k = 0; k < block.n; ++k) {
        T *const through = block.distances + k * block.stride;
        if (through[k] < -block.tolerance) return k;
        through[k] = 0;  // removes the effect of rounding
        if (HasVia) block.via[k * block.via_stride + k] = -1;
        const auto vertex = static_cast<int32_t>(block.first + k);
        for (int64_t i = 0; i < block.n; ++i) {
            if (i == k) continue;
            T *const row = block.distances + i * block.stride;
            const T to_k = row[k];
            if constexpr (HasVia) {
                int32_t *const via = block.via + i * block.via_stride;
                for (int64_t j = 0; j < block.n; ++j) {
                    const T sum = static_cast<T>(to_k + through[j]);
                    const bool is_better = sum < row[j];
                    row[j] = is_better ? sum : row[j];
                    via[j] = is_better ? vertex : via[j];
                }
            } else {
                for (int64_t j = 0; j < block.n; ++j) {
                    const T sum = static_cast<T>(to_k + through[j]);
                    row[j] = sum < row[j] ? sum : row[j];
                }
            }
        }
    }
    return -1;
}

template <class T>
int64_t close_block(const ClosureBlock<T> &block) {
    return block.via ? close_vertices<T, true>(block) : close_vertices<T, false>(block);
}

void join_rows(uint64_t *bits, int64_t n_words, int64_t begin, int64_t end, int64_t first, int64_t last) {
    for (int64_t k = first; k < last; ++k) {
        const uint64_t *const through = bits + k * n_words;
        for (int64_t i = begin; i < end; ++i) {
            uint64_t *__restrict const row = bits + i * n_words;
            if (i == k || !(row[k / 64] >> (k % 64) & 1)) continue;
            for (int64_t w = 0; w < n_words; ++w) row[w] |= through[w];
        }
    }
}

}  // namespace

#define TROPALIGN_STRING_(x) #x
#define TROPALIGN_STRING(x) TROPALIGN_STRING_(x)
extern const ClosureKernels closure_kernels = {TROPALIGN_STRING(TROPALIGN_ISA),
                                               close_block<float>,
                                               close_block<double>,
                                               close_block<int32_t>,
                                               close_block<int16_t>,
                                               join_rows};

}  // namespace tropalign::TROPALIGN_ISA
