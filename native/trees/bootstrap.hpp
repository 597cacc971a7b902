// Frequency of the branches of a tree in trees of resampled columns (Felsenstein 1985).
#pragma once
#include <cstdint>
#include <vector>

#include "aligned_distances.hpp"
#include "upgma.hpp"

namespace tropalign {

struct Bootstrap {
    int64_t n_columns;  // columns of the alignment, and columns drawn per sample
    DistanceModel model;
    bool is_joining;                  // neighbour joining, whose trees have no root
    Linkage linkage;                  // otherwise: average for UPGMA, weighted for WPGMA
    int64_t first_sample, n_samples;  // samples are numbered, so that several calls can share them
    uint64_t seed;
    double greatest;  // distance for rows for which the model has no distance
};

/// Return the number of samples that have the split (of rooted trees the clade) above each node of a tree of the rows.
/// parents[k] is the node above node k, greater than k; -1 for the last node, the root. Sample s depends only on
/// the seed and on s. If poll, called with the number of started samples, returns false, the counts are invalid.
std::vector<int32_t> bootstrap_counts(const CodedRows &rows, const int32_t *parents, int64_t n_nodes,
                                      const Bootstrap &bootstrap, int n_threads, const Poll &poll);

/// Return the number of splits (of rooted trees clades) of at least two leaves on each side in a sample's tree.
inline int64_t splits_per_sample(int64_t n_leaves, bool is_joining) { return n_leaves - (is_joining ? 3 : 2); }

/// Return a number per split of each sample's tree, splits_per_sample of them per sample; equal numbers are equal
/// splits. If poll returns false, they are invalid.
std::vector<uint64_t> bootstrap_splits(const CodedRows &rows, const Bootstrap &bootstrap, int n_threads,
                                       const Poll &poll);

/// Return the numbers of the splits above the inner nodes of a tree, excluding the root; parents as in
/// bootstrap_counts.
std::vector<uint64_t> tree_splits(const int32_t *parents, int64_t n_nodes, int64_t n_leaves, bool is_joining);

}  // namespace tropalign
