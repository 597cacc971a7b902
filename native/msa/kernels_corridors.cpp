// The kernels of corridors of this instruction set.
#include <algorithm>
#include <cstring>
#include <utility>

#include "corridor_sweep.hpp"

namespace tropalign::TROPALIGN_ISA {

template <int B>
constexpr CorridorKernels::Kernel corridor_kernel() {
    if constexpr (B > kVectorBytes) return {B, nullptr};
    else return {B, find_corridors<B>};
}

#define TROPALIGN_STRING_(x) #x
#define TROPALIGN_STRING(x) TROPALIGN_STRING_(x)
extern const CorridorKernels corridor_kernels = {TROPALIGN_STRING(TROPALIGN_ISA),
                                                 {corridor_kernel<16>(), corridor_kernel<32>(), corridor_kernel<64>()}};

}  // namespace tropalign::TROPALIGN_ISA
