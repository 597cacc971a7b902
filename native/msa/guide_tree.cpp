#include "guide_tree.hpp"

#include <algorithm>
#include <limits>

#include "../compute/buffer.hpp"

namespace tropalign {
namespace {

/// The clusters that are left. Row j of the triangle of distances has those of place j to the places before it:
///
///     place    0    1    2    3
///       1     d01                  nearest[1] = 0
///       2     d02  d12             nearest[2] = 0 or 1, ...
///       3     d03  d13  d23
///
/// The nearest place before each is kept. When i and j are joined, distances of averages are no smaller than both of
/// those they are made of. So what was nearest to a place keeps its distance as a lower bound, even where it was i or
/// j: such a place is only marked, and its row is read again once its bound is the smallest. Most never are, so that n
/// steps of O(n) remain (Müllner 2011, "generic clustering").
class Clusters {
  public:
    Clusters(const float *distances, int32_t n)
        : n_(n), triangle_(static_cast<size_t>(n) * (n - 1) / 2 + 1), node_(n), n_leaves_(n, 1), nearest_(n, -1),
          bound_(n, kNone), is_marked_(n, 0), is_alive_(n, 1) {
        transpose(distances);
        for (int32_t j = 0; j < n; ++j) {
            node_[j] = j;
            read_row(j);
        }
    }

    /// Joins the closest pair into node `joined`. Returns its children and the distance between them.
    std::pair<std::array<int32_t, 2>, double> join_closest(int32_t joined) {
        const int32_t j = closest(), i = nearest_[j];
        const std::array<int32_t, 2> children{node_[j], node_[i]};
        const double distance = bound_[j];
        average(i, j);
        is_alive_[i] = 0;
        bound_[i] = kNone;
        node_[j] = joined;
        n_leaves_[j] += n_leaves_[i];
        for (int32_t k = i + 1; k < n_; ++k)
            if (nearest_[k] == i || (nearest_[k] == j && k > j)) is_marked_[k] = 1;
        read_row(j);
        return {children, distance};
    }

  private:
    static constexpr float kNone = std::numeric_limits<float>::infinity();

    float *row(int32_t j) { return triangle_.data() + static_cast<size_t>(j) * (j - 1) / 2; }
    float &distance(int32_t a, int32_t b) { return a < b ? row(b)[a] : row(a)[b]; }

    void transpose(const float *distances) {
        constexpr int32_t kBlock = 64;  // of rows written while the same cache lines are read
        for (int32_t begin = 1; begin < n_; begin += kBlock) {
            const int32_t end = std::min(begin + kBlock, n_);
            for (int32_t i = 0; i < end - 1; ++i) {
                const float *from = distances + static_cast<size_t>(i) * (2 * static_cast<size_t>(n_) - i - 1) / 2;
                for (int32_t j = std::max(begin, i + 1); j < end; ++j) row(j)[i] = from[j - i - 1];
            }
        }
    }

    void read_row(int32_t j) {
        const float *values = row(j);
        float best = kNone;
        int32_t at = -1;
        for (int32_t i = 0; i < j; ++i)
            if (is_alive_[i] && values[i] < best) best = values[i], at = i;
        nearest_[j] = at;
        bound_[j] = best;
        is_marked_[j] = 0;
    }

    /// The first place with the smallest distance to one before it.
    int32_t closest() {
        while (true) {
            const auto j = static_cast<int32_t>(std::min_element(bound_.begin(), bound_.end()) - bound_.begin());
            if (!is_marked_[j]) return j;
            read_row(j);
        }
    }

    /// Distances of the cluster joined from i and j to all others, at place j. Products of a float and a number of
    /// leaves are exact in double.
    void average(int32_t i, int32_t j) {
        const double m = n_leaves_[i], n = n_leaves_[j];
        for (int32_t k = 0; k < n_; ++k) {
            if (!is_alive_[k] || k == i || k == j) continue;
            float &kept = distance(j, k);
            kept = static_cast<float>((n * kept + m * distance(i, k)) / (m + n));
        }
    }

    const int32_t n_;
    Buffer<float> triangle_;
    std::vector<int32_t> node_, n_leaves_, nearest_;
    std::vector<float> bound_;
    std::vector<uint8_t> is_marked_, is_alive_;
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
