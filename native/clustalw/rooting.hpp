// The root of a tree that has none, as CLUSTALW 2 places it: on a branch from which the leaves of both sides are
// equally far on average, and of these branches on the one that makes the shallowest tree.
#pragma once
#include <cstdint>
#include <vector>

namespace tropalign {

/// A binary tree of n leaves, numbered like msa's guide trees: nodes 0 to n - 1 are leaves, node n + k joins
/// children[2 k] and children[2 k + 1], the last node is the root. A length belongs to the branch above its node.
///
/// A tree without a root has one here that means nothing: the last node joins a node of length 0 and the third of the
/// three that neighbour joining leaves.
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

/// In float32, and with every sum in the order of CLUSTALW 2.1: what is rounded otherwise may choose another branch.
/// The time grows with the square of the number of leaves and the depth.
BinaryTree<float> clustalw_rooted_compat(const BinaryTree<float> &);
/// By the same rule, in time that grows with the number of leaves.
BinaryTree<double> clustalw_rooted(const BinaryTree<double> &);

}  // namespace tropalign
