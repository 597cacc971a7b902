#include "soft_tile.hpp"

#include "../compute/parallel.hpp"
#include "../simd/dispatch.hpp"

namespace tropalign {

TROPALIGN_DISPATCH_LOOKUPS(SoftKernels, soft_kernels)

bool align_softly(const SoftKernels &kernels, const std::vector<SoftTable> &tables, const SoftScoring &scoring,
                  int n_threads, const Poll &poll, std::vector<SoftSums> &sums) {
    const auto count = static_cast<int64_t>(tables.size());
    std::vector<Scratch<SoftSlot>> scratch(useful_threads(n_threads, count, 1));
    return parallel(
        n_threads, count, 1, [&](int thread, int64_t k) { sums[k] = kernels.run(tables[k], scoring, scratch[thread]); },
        poll);
}

}  // namespace tropalign
