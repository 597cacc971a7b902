// A unit: pairs that share their x and are computed in parallel, a lane per pair. Inputs and outputs of the
// kernels.
#pragma once
#include <array>
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

/// The kept results of a lane: the last row first.
struct PosteriorLane {
    float distance;
    bool underflowed;                // numbers left the range of the lanes' type: the results are invalid
    std::vector<uint32_t> elements;  // column | value << 16
    size_t n_elements;
    std::vector<uint16_t> row_sizes;  // [m], in order
};

/// Numbers that a column passes to the row below (S, X_1, X_2 of the pair-HMM; S and F of the partition function),
/// and to the row above (odds B, X_1, X_2; boltzmann B, F; the expected accuracy).
inline constexpr int kPosteriorDown = 5, kPosteriorUp = 6;
/// Numbers of column 0 in a checkpoint.
inline constexpr int kPosteriorEdge = 11;

enum class PosteriorBuffer { down, up, kept, checkpoints, is_end, letters, values, hits, found, factors, count };
using PosteriorSizes = std::array<size_t, static_cast<size_t>(PosteriorBuffer::count)>;

/// Division of the rows of a unit into blocks (posterior_sweep.hpp).
struct PosteriorBlocks {
    PosteriorBlocks(const PosteriorModel &, int32_t m, int32_t N, int vector_bytes);

    int32_t begin(int block) const { return block * rows; }
    int32_t end(int block) const { return m - begin(block) < rows ? m : begin(block) + rows; }

    int32_t m;
    int between;   // rows from one scaling to the next, an even number
    int32_t rows;  // of a block, a multiple of `between`
    int count;
};

/// Return the bytes of each buffer of a unit with N columns.
PosteriorSizes posterior_sizes(const PosteriorBlocks &, int32_t N, int vector_bytes, int lanes);
/// Return the bytes of all buffers.
size_t posterior_unit_bytes(const PosteriorModel &, int32_t m, int32_t N, int vector_bytes, int lanes);

struct PosteriorScratch {
    Scratch<PosteriorBuffer> buffers;
    PosteriorLane lane[kPosteriorLanes];
};

/// `lowest`: values (of kPosteriorOne) from there on are kept. Returns false if `stopped` ended the work.
using RunPosteriorUnit = bool (*)(const PosteriorModel &, const PosteriorUnit &, int lowest,
                                  const std::atomic<bool> &stopped, PosteriorScratch &);

struct PosteriorKernel {
    int lanes;
    int vector_bytes;
    RunPosteriorUnit run;  // null if the instruction set's vectors are narrower
};

/// Kernels of one instruction set.
struct PosteriorKernels {
    static constexpr int kRanges = 3, kWidths = 4;
    const char *isa;
    /// Kernels in float, double and long double, types of increasing range. Of each type the kernel with the fewest
    /// lanes comes first; it always exists, and takes little memory for long pairs.
    PosteriorKernel of_range[kRanges][kWidths];
};

/// Return the kernels chosen at import; throws what selected_isa throws.
const PosteriorKernels *selected_posterior_kernels();

}  // namespace tropalign
