// The kernels with int32 lanes.
#include "lane_kernels.hpp"

namespace tropalign::TROPALIGN_ISA {

extern const LaneKernels int32_lanes = kLaneKernels<int32_t>;

}  // namespace tropalign::TROPALIGN_ISA
