// The kernels with int16 lanes.
#include "kernels.hpp"

namespace tropalign::TROPALIGN_ISA {

void run_unit16(const Scoring &scoring, const Unit &unit, Scratch &scratch, LaneResult *result) {
    run_unit<int16_t>(scoring, unit, scratch, result);
}

}  // namespace tropalign::TROPALIGN_ISA
