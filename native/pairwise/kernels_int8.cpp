// The kernels with int8 lanes.
#include "unit_run.hpp"

namespace tropalign::TROPALIGN_ISA {

extern const LaneKernels int8_lanes = kLaneKernels<int8_t>;

}  // namespace tropalign::TROPALIGN_ISA
