// A state set and a gap flag for every column of every branch, seen from that branch as the root (PaPaRa: Berger and
// Stamatakis 2011).
#pragma once
#include <cstdint>
#include <vector>

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
    const uint8_t *letters;   // [..][n_letters]: rows of the alignment
    int64_t n_letters;
    const int64_t *tip_row;   // [n_tips]
    const int64_t *column;    // [n_columns] of the alignment that take part
    int64_t n_tips, n_columns;
    const uint32_t *sets;     // [256] state sets of the letters
    int n_states;             // a gap's set holds all
    const Joint *joints;   // a vector after those that it needs
    int64_t n_joints, n_vectors;
    const BranchEnds *branches;
    int64_t n_branches;
    const double *transitions;  // [..][4]
    GapRule rule;
    int n_threads;
};

/// Of each branch a number that only branches with equal vectors share, and another such.
struct VectorHash {
    uint64_t one = 0, other = 0;
};
std::vector<VectorHash> hash_branches(const VectorRequest &);

/// The vectors of some branches as one bit a lane (ReferencePlanes in batch.hpp): the states, then the gap flag. The last
/// branch fills the last group.
std::vector<uint64_t> branch_planes(const VectorRequest &, const int64_t *branch, int64_t n_chosen);

}  // namespace tropalign
