// The kernels with int32 lanes: H(i,j) = max(H(i-1,j-1) + s(i,j), E(i,j), F(i,j) [, 0]) (Gotoh 1982; sweep.hpp).
#include "lane_kernels.hpp"

namespace tropalign::TROPALIGN_ISA {

extern const LaneKernels int32_lanes = kLaneKernels<int32_t>;

}  // namespace tropalign::TROPALIGN_ISA
