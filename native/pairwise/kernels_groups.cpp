// The kernels of groups of targets (group_run.hpp): Gotoh's recurrence (1982; sweep.hpp).
#include "group_run.hpp"
#include "lane_kernels.hpp"

namespace tropalign::TROPALIGN_ISA {

template <class T, bool Positions>
static void run(const Scoring &scoring, const GroupRequest &request, GroupScratch &scratch, int32_t *scores,
                uint64_t *saturated) {
    if constexpr (kVectorBytes >= 64)
        if (request.group.n_lanes <= Lanes<T, 32>::count)
            return GroupRun<T, 32, Positions>(scoring, request, scratch).run(scores, saturated);
    GroupRun<T, kVectorBytes, Positions>(scoring, request, scratch).run(scores, saturated);
}

static void run_group(const Scoring &scoring, const GroupRequest &request, GroupScratch &scratch, int32_t *scores,
                      uint64_t *saturated) {
    if (request.positions) run<int8_t, true>(scoring, request, scratch, scores, saturated);
    else run<int8_t, false>(scoring, request, scratch, scores, saturated);
}

extern const GroupKernels group_kernels = {kVectorBytes, run_group, run<int16_t, true>};

}  // namespace tropalign::TROPALIGN_ISA
