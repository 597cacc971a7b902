// Sums of products at the elements of a matrix, for this instruction set; consistency_tile.hpp has the picture.
#include "../simd/vec.hpp"
#include "consistency_tile.hpp"

namespace tropalign::TROPALIGN_ISA {
namespace {

constexpr int kVectors = 4 * kSumColumns / kVectorBytes;
constexpr int kLanes = kVectorBytes / 4;
using Products = Vec<int32_t, kVectorBytes>;
using Couples = Vec<int16_t, kVectorBytes>;

/// The sums of a row's products for the columns from j on.
[[gnu::always_inline]] inline void sum_row(const Step *step, const Step *end, const TwinWindows &windows, int32_t j,
                                           int32_t *sums) {
    Products sum[kVectors] = {};
    for (; step < end; ++step) {
        const Window *window = &windows.windows[step->twin];
        uint32_t from = static_cast<uint32_t>(j - window->lowest);
        while (from >= window->size && window->next) [[unlikely]] {
            window = &windows.windows[window->next];
            from = static_cast<uint32_t>(j - window->lowest);
        }
        if (from >= window->size) continue;
        const int32_t *couples = windows.couples + window->begin + from;
        int32_t both;
        std::memcpy(&both, &step->even, 4);
        const auto factor = (Couples)splat<int32_t, kVectorBytes>(both);
        for (int v = 0; v < kVectors; ++v)
            sum[v] += multiply_add<kVectorBytes>(factor, load<int16_t, kVectorBytes>(couples + v * kLanes));
    }
    for (int v = 0; v < kVectors; ++v) store<int32_t, kVectorBytes>(sums + v * kLanes, sum[v]);
}

void add_products(const SparseRows &own, const StepRows &steps, const TwinWindows &windows, int64_t *sums) {
    alignas(64) int32_t found[kSumColumns];
    for (int32_t i = 0; i < own.n_rows; ++i) {
        const Step *begin = steps.steps + steps.starts[i], *end = steps.steps + steps.starts[i + 1];
        for (uint32_t e = own.starts[i]; e < own.starts[i + 1];) {
            const int32_t j = own.columns[e];
            sum_row(begin, end, windows, j, found);
            for (; e < own.starts[i + 1] && own.columns[e] < j + kSumColumns; ++e) sums[e] += found[own.columns[e] - j];
        }
    }
}

}  // namespace

extern const ConsistencyKernels consistency_kernels = {add_products};

}  // namespace tropalign::TROPALIGN_ISA
