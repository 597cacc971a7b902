#include "joining.hpp"

#include <cmath>
#include <limits>

#include "../compute/buffer.hpp"
#include "sometimes.hpp"

namespace tropalign {
namespace {

constexpr double kNone = std::numeric_limits<double>::infinity();
/// CLUSTAL W's: the shortest branch, and the distance in place of 0.
constexpr double kShortestBranch = 0.0001, kLeastDistance = 0.000001;

/// The clusters that are left, in a square of distances.
template <class T>
class Clusters {
  public:
    Clusters(const T *distances, int32_t n, bool is_clustalw)
        : n_(n), n_left_(n), is_clustalw_(is_clustalw), square_(static_cast<size_t>(n) * n), after_(n, 0.0),
          before_(n, 0.0), sums_(n), inside_(n, 0.0), node_(n), is_alive_(n, 1) {
        for (int32_t i = 0; i < n; ++i) {
            node_[i] = i;
            row(i)[i] = 0;
            for (int32_t j = i + 1; j < n; ++j) row(i)[j] = row(j)[i] = *distances++;
        }
        for (int32_t i = 0; i < n; ++i) {
            for (int32_t j = 0; j < i; ++j) before_[i] += row(i)[j];
            for (int32_t j = i + 1; j < n; ++j) after_[i] += row(i)[j];
            sums_[i] = after_[i] + before_[i];
        }
    }

    int32_t n_left() const { return n_left_; }

    /// Joins the best pair into node `joined`, and writes the lengths of its branches.
    std::array<int32_t, 2> join_best(int32_t joined, std::vector<double> &lengths) {
        const auto [i, j] = best();
        const std::array<int32_t, 2> children{node_[i], node_[j]};
        const double distance = row(i)[j], factor = n_left_ - 2;
        const double first = 0.5 * (distance + (sums_[i] - distance) / factor - (sums_[j] - distance) / factor);
        lengths[children[0]] = branch(first - inside_[i]);
        lengths[children[1]] = branch(distance - first - inside_[j]);
        inside_[i] = 0.5 * (is_clustalw_ && distance <= 0 ? kLeastDistance : distance);
        node_[i] = joined;
        merge(i, j);
        --n_left_;
        return children;
    }

    /// The three that are left.
    std::array<int32_t, 3> join_last(std::vector<double> &lengths) {
        std::array<int32_t, 3> p{}, nodes{};
        int found = 0;
        for (int32_t k = 0; k < n_; ++k)
            if (is_alive_[k]) p[found++] = k;
        const double d01 = row(p[0])[p[1]], d02 = row(p[0])[p[2]], d12 = row(p[1])[p[2]];
        const double first = 0.5 * (d01 + d02 - d12);
        const double whole[3] = {first, d01 - first, d02 - first};
        for (int k = 0; k < 3; ++k) {
            nodes[k] = node_[p[k]];
            lengths[nodes[k]] = branch(whole[k] - inside_[p[k]]);
        }
        return nodes;
    }

  private:
    T *row(int32_t i) { return square_.data() + static_cast<size_t>(i) * n_; }
    double branch(double length) const { return is_clustalw_ && std::fabs(length) < kShortestBranch ? 0.0 : length; }

    std::pair<int32_t, int32_t> best() {
        double all = 0;
        for (int32_t k = 0; k < n_; ++k) all += after_[k];
        const double factor = n_left_ - 2, constant = is_clustalw_ ? 2 * all : 0;
        double least = kNone;
        std::pair<int32_t, int32_t> found{0, 0};
        for (int32_t j = 1; j < n_; ++j) {
            if (!is_alive_[j]) continue;
            for (int32_t i = 0; i < j; ++i) {
                const double q = factor * row(j)[i] + constant - sums_[i] - sums_[j];
                if (q < least) least = q, found = {i, j};
            }
        }
        return found;
    }

    /// The cluster joined from those of places i < j gets place i.
    void merge(int32_t i, int32_t j) {
        is_alive_[j] = 0;
        double before = 0, after = 0;
        for (int32_t k = 0; k < n_; ++k) {
            if (!is_alive_[k] || k == i) continue;
            const double di = row(i)[k], dj = row(j)[k];
            const T mean = static_cast<T>((dj + di) * 0.5);
            (k < j ? after_ : before_)[k] -= dj;
            (k < i ? after_ : before_)[k] -= di;
            (k < i ? after_ : before_)[k] += mean;
            (k < i ? before : after) += mean;
            sums_[k] = after_[k] + before_[k];
            row(i)[k] = row(k)[i] = mean;
        }
        before_[i] = before;
        after_[i] = after;
        sums_[i] = after + before;
        before_[j] = after_[j] = 0;
        sums_[j] = -kNone;  // so that q is infinite
    }

    const int32_t n_;
    int32_t n_left_;
    const bool is_clustalw_;
    Buffer<T> square_;
    std::vector<double> after_, before_, sums_;  // of distances to places after and before, and to all
    std::vector<double> inside_;                 // how much of its distances lies below a cluster's node
    std::vector<int32_t> node_;
    std::vector<uint8_t> is_alive_;
};

}  // namespace

template <class T>
JoinedTree join_neighbours(const T *distances, int32_t n, bool is_clustalw, const Poll &poll) {
    JoinedTree tree;
    tree.lengths.assign(2 * static_cast<size_t>(n) - 2, 0.0);
    tree.children.reserve(n - 3);
    Sometimes sometimes(poll);
    Clusters<T> clusters(distances, n, is_clustalw);
    for (int32_t joined = n; clusters.n_left() > 3; ++joined) {
        if (!sometimes(joined - n)) return tree;
        tree.children.push_back(clusters.join_best(joined, tree.lengths));
    }
    tree.last = clusters.join_last(tree.lengths);
    return tree;
}

template JoinedTree join_neighbours(const float *, int32_t, bool, const Poll &);
template JoinedTree join_neighbours(const double *, int32_t, bool, const Poll &);

}  // namespace tropalign
