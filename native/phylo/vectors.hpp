// A state set and a gap flag for every column of every branch, seen from that branch as the root (PaPaRa: Berger and
// Stamatakis 2011).
#pragma once
#include <cstdint>

namespace tropalign {

/// How a column of a branch gets its gap flag.
enum class GapRule : int {
    likelihood = 0,  // two states, gap and base, along the tree
    discrete = 1,    // the paper's CGAP and OPEN
};

/// A directional vector: that of the subtree behind a node, from those of the two nodes beyond. Vectors 0 to n_tips - 1
/// are the tips'; transitions are indices of 2 x 2 matrices (from base, from gap) by row, one a branch length.
struct Joint {
    int32_t result, left, left_transition, right, right_transition;
};

/// A branch: the two directional vectors at its ends, and its transition matrix.
struct BranchEnds {
    int32_t one, other, transition;
};

struct VectorRequest {
    const uint32_t *tips;  // [n_tips][n_columns] state sets
    int64_t n_tips, n_columns;
    uint32_t all_states;   // a gap's set
    const Joint *joints;   // a vector after those that it needs
    int64_t n_joints, n_vectors;
    const BranchEnds *branches;
    int64_t n_branches;
    const double *transitions;  // [..][4]
    GapRule rule;
    int n_threads;
};

/// out[n_branches][n_columns]: the state set, and the gap flag in the bit above the last state.
void branch_vectors(const VectorRequest &, uint8_t *out);
void branch_vectors(const VectorRequest &, uint32_t *out);

}  // namespace tropalign
