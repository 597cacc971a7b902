// The kernels with int32 lanes.
#include "kernels.hpp"

namespace tropalign::TROPALIGN_ISA {

void run_unit32(const Scoring &scoring, const Unit &unit, Scratch &scratch, LaneResult *result) {
    run_unit<int32_t>(scoring, unit, scratch, result);
}

}  // namespace tropalign::TROPALIGN_ISA
