// The kernels with int16 lanes.
#include "lane_kernels.hpp"

namespace tropalign::TROPALIGN_ISA {

extern const LaneKernels int16_lanes = kLaneKernels<int16_t>;

}  // namespace tropalign::TROPALIGN_ISA
