// The table of this instruction set's kernels.
#include "../simd/vec.hpp"
#include "interface.hpp"

namespace tropalign::TROPALIGN_ISA {

// Defined in kernels_int8.cpp, kernels_int16.cpp, kernels_int32.cpp, kernels_long.cpp, kernels_short.cpp and
// kernels_similar.cpp.
extern const LaneKernels int8_lanes, int16_lanes, int32_lanes;
bool run_long(const Scoring &, const LanePair &, int n_threads, int64_t memory_bytes, const Poll &, LaneResult &,
              Buffer<uint32_t> &path);
bool run_short(const Scoring &, const LanePair &, UnitScratch &, LaneResult &);
bool run_similar(const Scoring &, const LanePair &, const WaveLimits &, UnitScratch &, LaneResult &);

#define TROPALIGN_STRING_(x) #x
#define TROPALIGN_STRING(x) TROPALIGN_STRING_(x)
extern const Kernels kernels = {
    TROPALIGN_STRING(TROPALIGN_ISA),
    kVectorBytes,
    {&int8_lanes, &int16_lanes, &int32_lanes},
    run_long,
    run_short,
    run_similar,
};

}  // namespace tropalign::TROPALIGN_ISA
