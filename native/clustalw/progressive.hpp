// CLUSTALW's progressive alignment: a family's sequences along a guide tree, then those that resemble no other.
#pragma once
#include <optional>

#include "../compute/poll.hpp"
#include "rules.hpp"

namespace tropalign {

/// n sequences, and what is known of them.
struct ClustalwFamily {
    const uint8_t *letters;  // codes below kClustalwLetters
    const int64_t *offsets;  // n + 1; no sequence is empty
    int32_t n;
    const std::array<int32_t, 2> *children;  // of node n + k; below it
    const double *lengths;                   // of the branch above each node
    /// Distances of all pairs i < j in the order (0, 1), (0, 2), ...; nullptr: those of the tree, from .01 to 1.
    const double *distances;
    const int32_t *weights;  // above 0
};

struct ClustalwAlignment {
    std::vector<int32_t> columns;  // of each residue
    int64_t n_columns;
    std::vector<int32_t> order;  // sequences as they came in
};

/// Nodes whose children are done are aligned by idle threads, each by one. No value where poll (aligned sequences)
/// stopped it. Each thread keeps `step_bytes` of steps at most. Throws std::length_error for profiles of more columns
/// than costs can be added up for.
std::optional<ClustalwAlignment> align_clustalw(const ClustalwRules &rules, const ClustalwFamily &family,
                                                size_t step_bytes, int n_threads, const Poll &poll);

// Percent identities of sequences as CLUSTALW's profile stage sees them: from the guide tree, or from given distances.

class Identities {
  public:
    explicit Identities(const ClustalwFamily &family);

    /// The identity of each sequence with the one most like it.
    std::vector<double> highest() const;
    /// The mean identity at each inner node, over all pairs of its two children's sequences but those that wait. Sums
    /// go by the larger group, then by the other, each in the family's order. 0 where a group is empty.
    std::vector<double> means(const std::vector<bool> &waits) const;
    /// The identities of a sequence with all others (that with itself is 0).
    std::vector<double> with_all(int32_t sequence) const;

  private:
    double of_distance(float sum) const;
    double given(int32_t i, int32_t j) const;
    /// Leaves below a node that do not wait, in the family's order.
    std::vector<int32_t> present(int32_t node, const std::vector<bool> &waits) const;
    /// Branch lengths added up from each leaf to the end of the branch above `node`, at the leaf's place in order_.
    void climb(int32_t node, std::vector<float> &heights) const;

    const ClustalwFamily &family_;
    std::vector<int32_t> order_, place_;  // leaves as they stand in the tree, and where each stands
    std::vector<int32_t> begins_, ends_;  // of each node in order_
    std::vector<int32_t> parents_;
};

}  // namespace tropalign
