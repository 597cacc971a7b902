#include "certain.hpp"

#include <algorithm>

#include "../compute/parallel.hpp"
#include "../simd/dispatch.hpp"

namespace tropalign {

TROPALIGN_DISPATCH(CertainKernels, certain_kernels)

bool certain_pairs(const CertainRequest &request, const Losses &losses, int n_threads, int32_t *loss, int32_t *column,
                   uint8_t *is_certain, const Poll &poll) {
    const CertainKernels &kernels = *selected_certain_kernels();
    const int64_t *offsets = request.offsets;
    const uint8_t *x = request.codes + offsets[request.x];
    const auto m = static_cast<int32_t>(offsets[request.x + 1] - offsets[request.x]);
    const int64_t n_units = (request.n_pairs + kernels.n_lanes - 1) / kernels.n_lanes;
    std::vector<CertainScratch> scratch(n_threads);
    return parallel(
        n_threads, n_units, 1,
        [&](int thread, int64_t unit) {
            const int64_t begin = unit * kernels.n_lanes;
            CertainLanes lanes{};
            lanes.n = static_cast<int>(std::min<int64_t>(kernels.n_lanes, request.n_pairs - begin));
            for (int l = 0; l < lanes.n; ++l) {
                const int64_t pair = begin + l, y = request.ys[pair];
                lanes.codes[l] = request.codes + offsets[y];
                lanes.length[l] = static_cast<int32_t>(offsets[y + 1] - offsets[y]);
                lanes.most[l] = request.most[pair];
                lanes.column[l] = column + pair * m;
                lanes.is_certain[l] = is_certain + pair * m;
            }
            kernels.run(losses, x, m, lanes, scratch[thread]);
            for (int l = 0; l < lanes.n; ++l) loss[begin + l] = lanes.loss[l];
        },
        [&](int64_t begun) { return poll(std::min(begun * kernels.n_lanes, request.n_pairs)); });
}

}  // namespace tropalign
