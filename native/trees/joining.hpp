// Neighbour joining (Saitou and Nei 1987, in the form of Studier and Keppler 1988).
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "../compute/poll.hpp"

namespace tropalign {

/// An unrooted tree of n >= 3 leaves, which are nodes 0 to n - 1. Node n + k joins the nodes children[k], which are
/// below n + k; the last node, 2 n - 3, joins the three nodes that are left.
struct JoinedTree {
    std::vector<std::array<int32_t, 2>> children;  // [n - 3]
    std::array<int32_t, 3> last;
    std::vector<double> lengths;  // [2 n - 2] of the branch above each node; 0 above the last
};

/// Neighbour joining of n >= 3 taxa. `distances` are those of (0, 1), (0, 2), ..., (1, 2), ...: finite, 0 or more.
///
/// A cluster has the place of the first of its leaves. Of r clusters, the pair of places i < j is joined for which
///
///     q(i, j) = (r - 2) d(i, j) - R(i) - R(j),    R(i) the sum of the distances of i
///
/// is smallest, of these the one with the smallest j, of these the one with the smallest i: just what a search of all
/// pairs in doubles, in this order of operations, would find. The joined cluster gets place i, and its distance to
/// another one is the mean of those of i and j. (Studier and Keppler take half of d(i, j) off as well, which is the
/// same for all other clusters and so changes no choice; branches are made shorter by it instead, as in CLUSTAL W.)
///
/// With `is_clustalw` the sum of all distances comes into q, as there, so that roundings and ties are the same;
/// branches shorter than 0.0001 are 0, and clusters at distance 0 count as 0.000001 apart.
///
/// Distances are kept as T, and all sums are of doubles. When poll, called with the number of joins done, returns
/// false, the tree is of no use.
template <class T>
JoinedTree join_neighbours(const T *distances, int32_t n, bool is_clustalw, const Poll &poll);

}  // namespace tropalign
