// The guide tree: which groups of sequences are aligned with each other, and in which order; weights of sequences.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "watch.hpp"

namespace tropalign {

/// A rooted binary tree of n leaves. Leaves are nodes 0 to n - 1; node n + k joins the nodes children[k], whose
/// numbers are below n + k.
struct GuideTree {
    std::vector<std::array<int32_t, 2>> children;  // [n - 1]
    std::vector<double> branch_lengths;            // [2 n - 1] above each node; 0 above the root
};

/// UPGMA (average linkage by numbers of leaves) of n sequences. `distances` are those of (0, 1), (0, 2), ..., (1,
/// 2), ...: finite numbers, 0 or more. Each child's branch is half of the distance at which the two are joined.
///
/// A cluster has the slot of one of its leaves; at first each leaf has its own. The pair of slots i < j with the
/// smallest distance is joined; ties go to the smallest j, then to the smallest i. The joined cluster has slot j, and
/// j's node is the first child.
GuideTree upgma(const float *distances, int32_t n, const Watch &watch);

/// Return the weight of each leaf: the sum of branch length / number of leaves below, over all nodes from the leaf up
/// to, but excluding, the root. Weights add up to 1; if all are 0, they are equal (MSAProbs, after CLUSTALW).
std::vector<double> sequence_weights(const std::array<int32_t, 2> *children, const double *branch_lengths, int32_t n);

}  // namespace tropalign
