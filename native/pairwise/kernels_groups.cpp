// The kernels of groups of targets.
#include "group_run.hpp"
#include "lane_kernels.hpp"

namespace tropalign::TROPALIGN_ISA {

static void run_group(const Scoring &scoring, const GroupRequest &request, GroupScratch &scratch, int32_t *scores,
                      uint64_t *saturated) {
    const int bytes = vector_bytes_for<int8_t>(request.group.n_lanes);
    if constexpr (kVectorBytes >= 64)
        if (bytes == 64) return GroupRun<64>(scoring, request, scratch).run(scores, saturated);
    if constexpr (kVectorBytes >= 32)
        if (bytes == 32) return GroupRun<32>(scoring, request, scratch).run(scores, saturated);
    GroupRun<16>(scoring, request, scratch).run(scores, saturated);
}

extern const GroupKernels group_kernels = {kVectorBytes, run_group};

}  // namespace tropalign::TROPALIGN_ISA
