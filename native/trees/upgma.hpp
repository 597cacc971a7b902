// UPGMA: average linkage by numbers of leaves; WPGMA: average linkage of the two clusters (Sokal and Michener 1958);
// and complete linkage.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "../compute/poll.hpp"

namespace tropalign {

/// A rooted tree of n >= 2 leaves, which are nodes 0 to n - 1. Node n + k joins the nodes children[k], whose
/// distance is distances[k].
struct AveragedTree {
    std::vector<std::array<int32_t, 2>> children;  // [n - 1]
    std::vector<double> distances;                 // [n - 1]
};

/// Distance of clusters: the mean of their leaves' distances, the largest, or the mean of the distances of the two
/// clusters that were joined last (weighted). Code that depends on it is a `switch` over all linkages without a
/// default: a new one does not compile until it is handled everywhere.
enum class Linkage { average, complete, weighted };

/// Joins n >= 2 taxa. `distances` are those of (0, 1), (0, 2), ..., (1, 2), ...: finite, 0 or more.
///
/// A cluster has the slot of the first of its leaves. The pair of slots i < j that is joined has the smallest distance;
/// ties go to the smallest j, then to the smallest i. i's node is the first child. If poll, called with the number of
/// joins done, returns false, the tree is invalid.
template <class T>
AveragedTree join_clusters(const T *distances, int32_t n, Linkage linkage, const Poll &poll);

}  // namespace tropalign
