#include "guide_tree.hpp"

#include "../trees/nearest_places.hpp"

namespace tropalign {
namespace {

/// Clusters in slots; a joined cluster takes the later one of its two slots. Its average distance to a third slot is at
/// least that slot's bound, so that bounds never fall.
class Clusters : NearestPlaces<float> {
  public:
    Clusters(const float *distances, int32_t n) : NearestPlaces(distances, n) {}

    /// Join the closest pair into node `joined`. Returns its children and the distance between them.
    std::pair<std::array<int32_t, 2>, double> join_closest(int32_t joined) {
        const int32_t j = closest(), i = nearest_[j];
        const std::array<int32_t, 2> children{node_[j], node_[i]};
        const double distance = bound_[j];
        average(i, j);
        remove(i);
        node_[j] = joined;
        n_leaves_[j] += n_leaves_[i];
        for (int32_t k = i + 1; k < n_; ++k)
            if (nearest_[k] == i || (nearest_[k] == j && k > j)) is_marked_[k] = 1;
        read_row(j);
        return {children, distance};
    }

  private:
    /// Compute distances of the cluster joined from i and j to all others, in slot j. Products of a float and a
    /// number of leaves are exact in double.
    void average(int32_t i, int32_t j) {
        const double m = n_leaves_[i], n = n_leaves_[j];
        for (int32_t k = 0; k < n_; ++k) {
            if (!is_alive_[k] || k == i || k == j) continue;
            float &kept = distance(j, k);
            kept = static_cast<float>((n * kept + m * distance(i, k)) / (m + n));
        }
    }
};

}  // namespace

GuideTree upgma(const float *distances, int32_t n, const Watch &watch) {
    GuideTree tree;
    tree.branch_lengths.assign(2 * static_cast<size_t>(n) - 1, 0.0);
    tree.children.reserve(n - 1);
    if (n == 1) return tree;
    Clusters clusters(distances, n);
    for (int32_t joined = n; joined < 2 * n - 1 && !watch.is_stopped(); ++joined) {
        const auto [children, distance] = clusters.join_closest(joined);
        tree.children.push_back(children);
        for (int32_t child : children) tree.branch_lengths[child] = 0.5 * distance;
    }
    return tree;
}

std::vector<double> sequence_weights(const std::array<int32_t, 2> *children, const double *branch_lengths, int32_t n) {
    std::vector<int32_t> n_leaves(2 * static_cast<size_t>(n) - 1, 1);
    for (int32_t k = 0; k < n - 1; ++k) n_leaves[n + k] = n_leaves[children[k][0]] + n_leaves[children[k][1]];
    std::vector<double> above(2 * static_cast<size_t>(n) - 1, 0.0);  // the sum from a node up to below the root
    for (int32_t k = n - 2; k >= 0; --k)
        for (int32_t child : children[k]) above[child] = above[n + k] + branch_lengths[child] / n_leaves[child];
    above.resize(n);
    double sum = 0;
    for (double weight : above) sum += weight;
    for (double &weight : above) weight = sum > 0 ? weight / sum : 1.0 / n;
    return above;
}

}  // namespace tropalign
