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
#include <vector>

#include "float_tables.hpp"
#include "hit.hpp"
#include "model.hpp"

namespace tropalign {

// Which transitions a model has, as masks: accuracies of alignments are summed along possible ones.

struct PathMasks {
    enum { kOpen = kTransitions, kMasks };
    Buffer<uint32_t> masks;    ///< [Q][kMasks][kQuad], 0 or all bits; kOpen: D -> D from the first quad to this one.
    Buffer<uint8_t> all_pass;  ///< [Q]: no mask of the quad is 0.
};

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
    bool has_own_scales;  ///< Whether Backward's rows have other factors than Forward's, as where it sees two domains.
    int32_t end_row, end_node;  ///< Where the path leaves the model.
    float *null2;               ///< [kResidues]: odds; nullptr where they are not wanted.
};

/// Rows of special states of all lanes, a quad each.
/// In the end posteriors of N and C stand where Backward's were.
enum LaneSpecial {
    kForwardN,
    kForwardC,
    kForwardScale,
    kBackwardN,
    kPosteriorN = kBackwardN,
    kBackwardC,
    kPosteriorC = kBackwardC,
    kBackwardScale,
    kTotal,
    kLaneSpecials
};
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

/// Runs a unit's envelopes but for the walk back, side by side in vectors of 1, 2 and 4 quads, as far as there are.
struct EnvelopeKernels {
    void (*rescore[3])(EnvelopeUnit &unit);
};
const EnvelopeKernels *selected_envelope_kernels();

// The end of an envelope's way: the best path, walked back through what the kernels left, and its lines of text.

/// A step of a path in a state 'M', 'D' or 'I'.
struct PathStep {
    char state;
    int32_t i, k;     ///< Residue of the envelope and node, both from 1.
    float posterior;  ///< That the residue is in this state.
};

/// From the M that a lane's domain ends with to the one that it begins with. `width`: quads of a vector.
void walk_back(const EnvelopeUnit &unit, int lane, int width, std::vector<PathStep> &path);

/// The posterior of N (kPosteriorN) or C (kPosteriorC) at residue i of a lane, from 1.
float outside_posterior(const EnvelopeUnit &unit, int lane, int width, int32_t i, LaneSpecial which);

/// The alignment and its ends, from a path in backward order, residues codes[0 ..) and where these begin in the target.
void write_lines(const ProfileModel &model, const uint8_t *codes, const std::vector<PathStep> &path,
                 int32_t envelope_begin, DomainHit &hit);

}  // namespace tropalign
