// Neighbour joining (Saitou and Nei 1987, in the form of Studier and Keppler 1988).
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "../compute/poll.hpp"

namespace tropalign {

/// An unrooted tree of n >= 3 leaves, which are nodes 0 to n - 1. Node n + k joins the nodes children[k], whose
/// numbers are below n + k; the last node, 2 n - 3, joins the three remaining nodes.
struct JoinedTree {
    std::vector<std::array<int32_t, 2>> children;  // [n - 3]
    std::array<int32_t, 3> last;
    std::vector<double> lengths;  // [2 n - 2] of the branch above each node; 0 above the last
};

/// Neighbour joining of n >= 3 taxa. `distances` are those of (0, 1), (0, 2), ..., (1, 2), ...: finite, 0 or more.
/// They are replaced by those of the clusters, so that no further memory of the size of n^2 / 2 is needed.
///
/// A cluster has the slot of the first of its leaves. Of r clusters, the pair of slots i < j is joined for which
///
///     q(i, j) = (r - 2) d(i, j) - R(i) - R(j),    R(i) the sum of the distances of i
///
/// is smallest. Ties go to the smallest j, then to the smallest i: exactly the result of a search of all pairs in
/// doubles, in this order of operations. The joined cluster gets slot i, and its distance to another one is the mean of
/// those of i and j. (Studier and Keppler also subtract half of d(i, j), which is the same for all other clusters and
/// so changes no choice; branches are shortened by it instead, as in CLUSTAL W.)
///
/// With `is_clustalw` the sum of all distances is included in q, as there, so that roundings and ties are the
/// same; branches shorter than 0.0001 are 0, and clusters at distance 0 count as 0.000001 apart.
///
/// Distances are stored as T, and all sums are of doubles. If poll, called with the number of joins done, returns
/// false, the tree is invalid.
template <class T>
JoinedTree join_neighbours(T *distances, int32_t n, bool is_clustalw, const Poll &poll);

// The kernels of neighbour joining, and the tables of them that every instruction set fills.

/// Computation of q from a distance and sums: ((factor * d + constant) - own) - sums[j].
struct Criterion {
    double factor, constant;
};

/// Distances are stored as T.
template <class T>
struct JoiningKernels {
    const char *isa;
    /// Returns the smallest q of a row, whose sum is `own`, with the n slots of `distances` and `sums`; infinity
    /// if n is 0.
    double (*least)(const T *distances, const double *sums, int64_t n, Criterion criterion, double own);
    /// Replaces distances by those of a joined cluster to n slots, the means of the distances of its two parts. The old
    /// distances are subtracted from two sums (which may be the same one), and the means are added to the first.
    void (*merge)(T *first, const T *second, double *sums_first, double *sums_second, int64_t n);
    /// Sets means[k] = sums[k] * inverse. Returns the largest change; minus infinity if no sum is finite.
    double (*change)(const double *sums, double *means, int64_t n, double inverse);
    /// Lowers two rows of bounds to distances[k] + more and distances[k] + most, if these are smaller.
    void (*lower)(const T *distances, int64_t n, double *bounds, double more, double *all_bounds, double most);
    /// Writes the k with bounds[k] - means[k] <= limit, ascending; returns their number.
    int64_t (*within)(const double *bounds, const double *means, int64_t n, double limit, int32_t *found);
    /// Returns the smallest bounds[k] - means[k].
    double (*lowest)(const double *bounds, const double *means, int64_t n);
};

/// Return the tables of the chosen instruction set.
const JoiningKernels<float> *selected_float_joining_kernels();
const JoiningKernels<double> *selected_double_joining_kernels();

}  // namespace tropalign
