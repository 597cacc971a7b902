// The kernels with int8 lanes.
#include "kernels.hpp"

namespace tropalign::TROPALIGN_ISA {

void run_unit8(const Scoring &scoring, const Unit &unit, Scratch &scratch, LaneResult *result) {
    run_unit<int8_t>(scoring, unit, scratch, result);
}

}  // namespace tropalign::TROPALIGN_ISA
