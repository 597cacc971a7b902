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

}  // namespace tropalign
