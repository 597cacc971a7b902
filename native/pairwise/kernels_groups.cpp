// The kernels of groups of targets (group_run.hpp): Gotoh's recurrence (1982; sweep.hpp).
#include "group_run.hpp"
#include "lane_kernels.hpp"

namespace tropalign::TROPALIGN_ISA {

template <bool Positions>
static void run(const Scoring &scoring, const GroupRequest &request, GroupScratch &scratch, int32_t *scores,
                uint64_t *saturated) {
    if constexpr (kVectorBytes >= 64)
        if (request.group.n_lanes <= 32)
            return GroupRun<32, Positions>(scoring, request, scratch).run(scores, saturated);
    GroupRun<kVectorBytes, Positions>(scoring, request, scratch).run(scores, saturated);
}

static void run_group(const Scoring &scoring, const GroupRequest &request, GroupScratch &scratch, int32_t *scores,
                      uint64_t *saturated) {
    if (request.positions) run<true>(scoring, request, scratch, scores, saturated);
    else run<false>(scoring, request, scratch, scores, saturated);
}

extern const GroupKernels group_kernels = {kVectorBytes, run_group};

}  // namespace tropalign::TROPALIGN_ISA
