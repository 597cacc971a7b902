// Envelopes of one model side by side: what their kernels take and leave, and the table of them that every instruction
// set fills.
//
// A unit has a lane per envelope, each a quad of every vector. All of them end in its last row, so that one that is
// shorter begins in a later one; in rows before its begin a lane is idle.
//
//     row     0  1  2  3  4  5          residue r of a lane is in row begin + r + 1,
//     lane 0  .  R  A  V  E  N          its row 0 is row begin
//     lane 1           .  E  L
#pragma once
#include <cstdint>

#include "float_tables.hpp"
#include "path_masks.hpp"

namespace tropalign {

inline constexpr int kMostLanes = 4;

/// An envelope of a unit.
struct EnvelopeLane {
    const uint8_t *codes;
    int32_t L;
    float loop, move;  ///< N -> N, C -> C; N -> B, C -> T.
    // Results.
    float nats;
    float accuracy;
    bool in_range;
    int32_t end_row, end_node;  ///< Where the path leaves the model.
    float *null2;               ///< [kResidues]: odds; nullptr where they are not wanted.
};

/// Rows of special states of all lanes, a quad each.
enum LaneSpecial { kForwardN, kForwardC, kForwardScale, kBackwardN, kBackwardC, kBackwardScale, kTotal, kLaneSpecials };
/// What the accuracies tell the walk back, a bit per node: which of two is larger.
enum Choice { kInsertAboveMatch, kBeginAboveDelete, kOthersAboveMatches, kInsertStays, kDeleteStays, kChoices };

struct EnvelopeUnit {
    const FloatTables *tables;
    const PathMasks *masks;
    int32_t n_lanes, n_rows;  ///< Of the longest envelope; row 0 comes in front.
    EnvelopeLane lanes[kMostLanes];
    // Memory, of a vector of `width` quads where a quad is meant.
    float *cells;      ///< [n_rows + 1][Q][M, I]: Forward, then Forward times Backward.
    uint8_t *choices;  ///< [n_rows + 1][Q][kChoices] numbers of choice_bytes(width).
    float *specials;   ///< [n_rows + 1][kLaneSpecials]
    float *rows;       ///< [kWorkRows][Q]
};
inline constexpr int kWorkRows = 7;

constexpr int choice_bytes(int width) { return width == 4 ? 2 : 1; }

/// All of a unit's envelopes but the walk back, side by side in vectors of 1, 2 and 4 quads, as far as there are.
struct EnvelopeKernels {
    void (*rescore[3])(EnvelopeUnit &unit);
};
const EnvelopeKernels *selected_envelope_kernels();

}  // namespace tropalign
