// Envelopes of one model in parallel lanes: the inputs and outputs of their kernels, and the table of them that
// every instruction set fills.
//
// A unit has a lane per envelope, each a quad of every vector. All of them end in its last row, so that a shorter
// one starts in a later row; in rows before its start a lane is idle.
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

// The transitions of a model as masks: accuracies of alignments are summed along possible transitions only.

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
    // Results:
    float nats;
    float accuracy;
    bool in_range;
    bool has_own_scales;        ///< True if Backward's rows have other factors than Forward's, as with two domains.
    int32_t end_row, end_node;  ///< Where the path leaves the model.
    float *null2;               ///< [kResidues]: odds; nullptr if not requested.
};

/// Rows of special states of all lanes, a quad each. In the end the posteriors of N and C replace Backward's
/// values.
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
/// Comparisons of accuracies that the traceback needs, a bit per node: which of two is larger.
enum Choice { kInsertAboveMatch, kBeginAboveDelete, kOthersAboveMatches, kInsertStays, kDeleteStays, kChoices };

struct EnvelopeUnit {
    const FloatTables *tables;
    const PathMasks *masks;
    int32_t n_lanes, n_rows;  ///< Rows of the longest envelope, after row 0.
    EnvelopeLane lanes[kMostLanes];
    // Memory; a quad stands for a vector of `width` quads.
    float *cells;      ///< [n_rows + 1][Q][M, I]: Forward, then Forward times Backward.
    uint8_t *choices;  ///< [n_rows + 1][Q][kChoices] numbers of choice_bytes(width).
    float *specials;   ///< [n_rows + 1][kLaneSpecials]
    float *rows;       ///< [kWorkRows][Q]
};
inline constexpr int kWorkRows = 7;

constexpr int choice_bytes(int width) { return width == 4 ? 2 : 1; }

/// Kernels that compute a unit's envelopes except the traceback, in vectors of 1, 2 and 4 quads; null if there are
/// none of this width.
struct EnvelopeKernels {
    void (*rescore[3])(EnvelopeUnit &unit);
};
const EnvelopeKernels *selected_envelope_kernels();

// The last step of an envelope: the best path, traced back through the kernels' results, and its text lines.

/// A step of a path in a state 'M', 'D' or 'I'.
struct PathStep {
    char state;
    int32_t i, k;     ///< Residue of the envelope and node, both from 1.
    float posterior;  ///< Probability that the residue is in this state.
};

/// Trace back from the last M of a lane's domain to its first. `width`: quads of a vector.
void walk_back(const EnvelopeUnit &unit, int lane, int width, std::vector<PathStep> &path);

/// Return the posterior of N (kPosteriorN) or C (kPosteriorC) at residue i of a lane, counted from 1.
float outside_posterior(const EnvelopeUnit &unit, int lane, int width, int32_t i, LaneSpecial which);

/// Set the alignment and its ends from a path in reverse order, residues codes[0 ..) and their offset in the
/// target.
void write_lines(const ProfileModel &model, const uint8_t *codes, const std::vector<PathStep> &path,
                 int32_t envelope_begin, DomainHit &hit);

}  // namespace tropalign
