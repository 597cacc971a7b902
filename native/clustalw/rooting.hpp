// Root of an unrooted tree as CLUSTALW 2 places it: on a branch from which the leaves of both sides are equally far on
// average. If several branches qualify, the root is on the one that gives the shallowest tree.
#pragma once
#include <cstdint>
#include <vector>

namespace tropalign {

/// A binary tree of n leaves, numbered like the guide trees of msa: nodes 0 to n - 1 are leaves, node n + k joins
/// children[2 k] and children[2 k + 1], the last node is the root. A length belongs to the branch above its node.
///
/// An unrooted tree has an arbitrary root here: the last node joins a node of length 0 and the third of the three
/// that neighbour joining leaves.
///
///                root
///               /    \ .
///            0 /      \ c
///             *        C
///          a / \ b
///           A   B
template <class T>
struct BinaryTree {
    std::vector<int32_t> children;
    std::vector<T> lengths;

    int32_t n_nodes() const { return static_cast<int32_t>(lengths.size()); }
    int32_t n_leaves() const { return (n_nodes() + 1) / 2; }
};

/// Root in float32, with every sum in the order of CLUSTALW 2.1: different rounding may choose another branch.
/// Time is proportional to the square of the number of leaves times the depth.
BinaryTree<float> clustalw_rooted_compat(const BinaryTree<float> &);
/// Root by the same rule, in time proportional to the number of leaves.
BinaryTree<double> clustalw_rooted(const BinaryTree<double> &);

}  // namespace tropalign
