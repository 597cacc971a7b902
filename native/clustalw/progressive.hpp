// CLUSTALW's progressive alignment: sequences of a family along a guide tree, then those that resemble no other.
#pragma once
#include <optional>

#include "../compute/poll.hpp"
#include "rules.hpp"

namespace tropalign {

/// n sequences with their guide tree and weights.
struct ClustalwFamily {
    const uint8_t *letters;  // residue codes below kClustalwLetters
    const int64_t *offsets;  // n + 1; no sequence is empty
    int32_t n;
    const std::array<int32_t, 2> *children;  // children of node n + k, with lower numbers
    const double *lengths;                   // length of the branch above each node
    /// Distances of all pairs i < j in the order (0, 1), (0, 2), ...; nullptr: those of the tree, from .01 to 1.
    const double *distances;
    const int32_t *weights;  // above 0
};

struct ClustalwAlignment {
    std::vector<int32_t> columns;  // the column of each residue
    int64_t n_columns;
    std::vector<int32_t> order;  // sequences in the order in which they were added
};

/// Align along the tree. Each node whose children are done is aligned by one idle thread. No value if poll (called
/// with the number of aligned sequences) stopped it. Each thread keeps at most `step_bytes` of steps. Throws
/// std::length_error for profiles of more columns than costs can be summed over.
std::optional<ClustalwAlignment> align_clustalw(const ClustalwRules &rules, const ClustalwFamily &family,
                                                size_t step_bytes, int n_threads, const Poll &poll);

// Percent identities of sequences for CLUSTALW's profile stage, from the guide tree or from given distances.

class Identities {
  public:
    explicit Identities(const ClustalwFamily &family);

    /// Return the identity of each sequence with the one most similar to it.
    std::vector<double> highest() const;
    /// Return the mean identity at each inner node, over all pairs of its two children's sequences except those
    /// that wait. Sums go over the larger group, then over the other, each in the order of the family. 0 if a
    /// group is empty.
    std::vector<double> means(const std::vector<bool> &waits) const;
    /// Return the identities of a sequence with all others (0 with itself).
    std::vector<double> with_all(int32_t sequence) const;

  private:
    double of_distance(float sum) const;
    double given(int32_t i, int32_t j) const;
    /// Return the leaves below a node that do not wait, in the order of the family.
    std::vector<int32_t> present(int32_t node, const std::vector<bool> &waits) const;
    /// Sum the branch lengths from each leaf to the end of the branch above `node`, at the leaf's index in order_.
    void climb(int32_t node, std::vector<float> &heights) const;

    const ClustalwFamily &family_;
    std::vector<int32_t> order_, place_;  // leaves in tree order, and the index of each
    std::vector<int32_t> begins_, ends_;  // range of each node in order_
    std::vector<int32_t> parents_;
};

}  // namespace tropalign
