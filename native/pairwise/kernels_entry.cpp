// The table of this instruction set's kernels.
#include "kernels.hpp"

namespace tropalign::TROPALIGN_ISA {
namespace {

bool fits_bits(const Scoring &scoring, int bits) {
    return bits == 8 ? fits<int8_t>(scoring) : bits == 16 ? fits<int16_t>(scoring) : fits<int32_t>(scoring);
}

void run(const Scoring &scoring, const Unit &unit, int bits, Scratch &scratch, LaneResult *result) {
    (bits == 8 ? run_unit8 : bits == 16 ? run_unit16 : run_unit32)(scoring, unit, scratch, result);
}

}  // namespace

#define TROPALIGN_STRING_(x) #x
#define TROPALIGN_STRING(x) TROPALIGN_STRING_(x)
extern const Kernels kernels = {TROPALIGN_STRING(TROPALIGN_ISA), kVectorBytes, fits_bits, run, run_long};

}  // namespace tropalign::TROPALIGN_ISA
