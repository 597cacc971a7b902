// State sets and gap flags of every column of every branch, seen from that branch as the root (PaPaRa: Berger and
// Stamatakis 2011, Aligning short reads to reference alignments and trees, Bioinformatics 27:2068).
#pragma once
#include <cstdint>
#include <vector>

namespace tropalign {

/// Rule for the gap flag of a branch's column (docs/place.md).
enum class GapRule : int {
    likelihood = 0,  // gap and base are two states that evolve along the tree; flag set if gap is the likelier
    discrete = 1,    // rules without branch lengths: the flags CGAP and OPEN of Berger and Stamatakis 2011
};

/// Computes a directional vector (of the subtree behind a node) from the vectors of the two nodes beyond it.
/// Vectors 0 to n_tips - 1 are those of the tips. Transitions are indices of 2 x 2 matrices, one per branch
/// length, row-major: from base, from gap.
struct Joint {
    int32_t result, left, left_transition, right, right_transition;
};

/// A branch: the two directional vectors at its ends, and its transition matrix.
struct BranchEnds {
    int32_t one, other, transition;
};

struct VectorRequest {
    const uint8_t *letters;  // [rows of the alignment][n_letters]
    int64_t n_letters;
    const int64_t *tip_row;  // [n_tips] row of each tip
    const int64_t *column;   // [n_columns] the alignment columns that are used
    int64_t n_tips, n_columns;
    const uint32_t *sets;  // [256] state sets of the residue codes
    int n_states;          // a gap's set holds all states
    const Joint *joints;   // sorted so that each one follows those that it depends on
    int64_t n_joints, n_vectors;
    const BranchEnds *branches;
    int64_t n_branches;
    const double *transitions;  // [branch lengths][4]
    GapRule rule;
    int n_threads;
};

/// The distinct vectors of all branches, numbered by their first branch.
struct DistinctVectors {
    std::vector<uint64_t> words;    // laid out as in ReferencePlanes, the last group filled up with the last vector
    std::vector<int64_t> distinct;  // [n_branches] index of each branch's vector
    int64_t n_distinct = 0;
};
DistinctVectors distinct_vectors(const VectorRequest &);

}  // namespace tropalign
