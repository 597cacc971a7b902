// Percent identities of sequences as CLUSTALW's profile stage sees them: from the guide tree, or from given distances.
#pragma once
#include "progressive.hpp"

namespace tropalign {

class Identities {
  public:
    explicit Identities(const ClustalwFamily &family);

    /// Of each sequence with the one most like it.
    std::vector<double> highest() const;
    /// Of each inner node: the mean over all pairs of its two children's sequences, those that wait aside. Sums go by
    /// the larger group, then by the other, each in the family's order. 0 where a group is empty.
    std::vector<double> means(const std::vector<bool> &waits) const;
    /// Of a sequence with all others (that with itself is 0).
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
