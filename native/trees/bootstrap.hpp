// How often the branches of a tree come back in trees of resampled columns (Felsenstein 1985).
#pragma once
#include <cstdint>
#include <vector>

#include "aligned_distances.hpp"

namespace tropalign {

struct Bootstrap {
    int64_t n_columns;  // of which as many are drawn, each as likely
    DistanceModel model;
    bool is_joining;                  // neighbour joining, whose trees have no root; else UPGMA
    int64_t first_sample, n_samples;  // samples are numbered, so that several calls can share them out
    uint64_t seed;
    double greatest;  // the distance of rows that the model has none for
};

/// The number of samples that have the split (with UPGMA the clade) above each node of a tree of the rows. parents[k]
/// is the node above node k, greater than k; -1 for the last node, the root. Sample s depends on the seed and on s
/// only. When poll, called with the number of samples begun, returns false, the counts are of no use.
std::vector<int32_t> bootstrap_counts(const CodedRows &rows, const int32_t *parents, int64_t n_nodes,
                                      const Bootstrap &bootstrap, int n_threads, const Poll &poll);

/// Splits (with UPGMA clades) of two leaves or more on each side that the tree of a sample has.
inline int64_t splits_per_sample(int64_t n_leaves, bool is_joining) { return n_leaves - (is_joining ? 3 : 2); }

/// A number per split of each sample's tree, splits_per_sample of them a sample; equal numbers are equal splits. When
/// poll returns false, they are of no use.
std::vector<uint64_t> bootstrap_splits(const CodedRows &rows, const Bootstrap &bootstrap, int n_threads,
                                       const Poll &poll);

/// The numbers of the splits above the inner nodes of a tree, the root left out; parents as of bootstrap_counts.
std::vector<uint64_t> tree_splits(const int32_t *parents, int64_t n_nodes, int64_t n_leaves, bool is_joining);

}  // namespace tropalign
