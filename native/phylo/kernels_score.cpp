// The placement kernels of this instruction set.
#include "score_kernels.hpp"

namespace tropalign::TROPALIGN_ISA {

#define TROPALIGN_STRING_(x) #x
#define TROPALIGN_STRING(x) TROPALIGN_STRING_(x)
extern const PlaceKernels place_kernels = {TROPALIGN_STRING(TROPALIGN_ISA),
                                           {score_group<int8_t>, score_group<int16_t>, score_group<int32_t>}};

}  // namespace tropalign::TROPALIGN_ISA
