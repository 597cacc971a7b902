// The kernel of longest common subsequences of this instruction set.
#include "lcs_lanes.hpp"

namespace tropalign::TROPALIGN_ISA {

#define TROPALIGN_STRING_(x) #x
#define TROPALIGN_STRING(x) TROPALIGN_STRING_(x)
extern const LcsKernels lcs_kernels = {TROPALIGN_STRING(TROPALIGN_ISA), kLcsLanes, lcs_of_lanes};

}  // namespace tropalign::TROPALIGN_ISA
