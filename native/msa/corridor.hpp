// Where posteriors of a pair may be worth keeping: the columns, of every four rows, through which an alignment goes
// that scores nearly as well as the best. Scores are the logarithms of the partition function (posterior_model.hpp), so
// that an alignment that scores s lower has exp(-s) of the best one's weight.
//
//     row  1..4    #####........        An alignment crosses the boundary of two blocks of rows once: on the way from
//          5..8    ..#####......        a cell (i, j) to a match (i + 1, j + 1), or down a gap in column j. The lowest
//          9..12   ....######...        and the highest j of those worth it are where the block below begins, and where
//                                       the one above ends.
#pragma once
#include <vector>

#include "posterior_unit.hpp"

namespace tropalign {

/// The most pairs whose corridors are found side by side, and those of a part.
inline constexpr int kCorridorLanes = 64, kPartLanes = 8, kMostParts = kCorridorLanes / kPartLanes;
/// Columns that a corridor is wider, at either side, than what is found.
inline constexpr int kCorridorMargin = 4;

/// Scores in units of which a byte holds those that matter.
struct CorridorModel {
    int8_t scores[32][32];  // by the code of x, then that of y; the lowest for kPosteriorPad
    int8_t open, extend;    // of a gap's first residue, and of each further one: below 0
    int8_t slack;           // an alignment that scores so much lower than the best is worth it
};

/// `slack`: in the partition function's own units, exp(-slack) of the weight of the best alignment.
CorridorModel corridor_model(const PosteriorModel &, double slack);

/// Pairs side by side, in parts that share their x each.
struct CorridorUnit {
    struct Part {
        const uint8_t *x;
        int32_t m;
        int n_lanes;
        const uint8_t *y[kPartLanes];
        int32_t n[kPartLanes];
    };
    int n_parts;
    Part parts[kMostParts];

    int32_t longest_x() const;
    int32_t longest_y() const;
};

/// Where the alignments of each lane that are worth it cross the boundaries of blocks: behind row 0, 4, 8, ...
struct Crossings {
    static constexpr int32_t kNone = -1;
    std::vector<int32_t> lowest, highest;  // [boundary][kCorridorLanes] columns from 0; kNone where all end before, or
                                           // begin behind

    void begin(int n_boundaries) {
        lowest.assign(static_cast<size_t>(n_boundaries) * kCorridorLanes, kNone);
        highest.assign(static_cast<size_t>(n_boundaries) * kCorridorLanes, kNone);
    }
};

enum class CorridorBuffer { letters, profile, rows, kept, up, ends, hits, steps, count };
struct CorridorScratch {
    Scratch<CorridorBuffer> buffers;
    Crossings crossings;
};

/// Fills the crossings. False where `stopped` ended it.
using FindCorridors = bool (*)(const CorridorModel &, const CorridorUnit &, const std::atomic<bool> &stopped,
                               CorridorScratch &);

/// Of one instruction set.
struct CorridorKernels {
    static constexpr int kWidths = 3;
    const char *isa;
    struct Kernel {
        int lanes;
        FindCorridors run;  // null where the instruction set's vectors are narrower
    } kernels[kWidths];
};
const CorridorKernels *selected_corridor_kernels();

/// Bytes that the kernel takes.
size_t corridor_bytes(int32_t m, int32_t N, int lanes);

/// The corridor of a lane, a span per block.
std::vector<PosteriorSpan> corridor_of(const CorridorUnit &, const Crossings &, int lane);

}  // namespace tropalign
