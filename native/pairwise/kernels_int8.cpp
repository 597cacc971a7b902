// The kernels with int8 lanes.
#include "lane_kernels.hpp"

namespace tropalign::TROPALIGN_ISA {

extern const LaneKernels int8_lanes = kLaneKernels<int8_t>;

}  // namespace tropalign::TROPALIGN_ISA
