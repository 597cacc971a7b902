// A unit: pairs that share their x and are computed side by side, a lane per pair. What kernels get and give.
#pragma once
#include <atomic>
#include <cstdint>
#include <vector>

#include "../compute/scratch.hpp"
#include "posterior_model.hpp"

namespace tropalign {

inline constexpr int kPosteriorLanes = 16;

struct PosteriorUnit {
    const uint8_t *x;
    int32_t m;
    int n_lanes;
    const uint8_t *y[kPosteriorLanes];
    int32_t n[kPosteriorLanes];
};

/// What is kept of a lane: the last row first.
struct PosteriorLane {
    float distance;
    bool underflowed;                // numbers left the range of the lanes' type: nothing of this counts
    std::vector<uint32_t> elements;  // column | value << 16
    size_t n_elements;
    std::vector<uint16_t> row_sizes;  // [m], in order
};

enum class PosteriorBuffer {
    down,
    up,
    kept,
    checkpoints,
    is_end,
    letters,
    profile,
    values,
    hits,
    found,
    factors,
    count
};

struct PosteriorScratch {
    Scratch<PosteriorBuffer> buffers;
    PosteriorLane lane[kPosteriorLanes];
};

/// Lowest value of an element that is kept (of kPosteriorOne). False: `stopped`.
using RunPosteriorUnit = bool (*)(const PosteriorModel &, const PosteriorUnit &, int lowest,
                                  const std::atomic<bool> &stopped, PosteriorScratch &);

/// Kernels of one instruction set.
struct PosteriorKernels {
    const char *isa;
    RunPosteriorUnit by_lanes[3];  // 4, 8 and 16 lanes; null where vectors are narrower
    RunPosteriorUnit one_lane;     // for long pairs, in little memory
    RunPosteriorUnit wide_range;   // one lane, in the widest floating-point type
};

}  // namespace tropalign
