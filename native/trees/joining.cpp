#include "joining.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "../simd/dispatch.hpp"
#include "joining_search.hpp"
#include "sometimes.hpp"

namespace tropalign {

TROPALIGN_DISPATCH(JoiningKernels<float>, float_joining_kernels)
TROPALIGN_DISPATCH(JoiningKernels<double>, double_joining_kernels)

namespace {

/// The sum of a removed slot.
constexpr double kGone = -std::numeric_limits<double>::infinity();
/// CLUSTAL W's constants: the shortest branch, and the distance used in place of 0.
constexpr double kShortestBranch = 0.0001, kLeastDistance = 0.000001;

const JoiningKernels<float> *kernels_of(float) { return selected_float_joining_kernels(); }
const JoiningKernels<double> *kernels_of(double) { return selected_double_joining_kernels(); }

/// The remaining clusters, in the triangle of their distances. Removed slots are dropped from it now and then.
template <class T>
class JoiningClusters {
  public:
    JoiningClusters(T *distances, int32_t n, bool is_clustalw)
        : n_(n), n_left_(n), is_clustalw_(is_clustalw), kernels_(kernels_of(T())), distances_(distances),
          after_(n, 0.0), before_(n, 0.0), sums_(n), inside_(n, 0.0), first_(n), second_(n), node_(n),
          search_(kernels_) {
        for (int32_t i = 0; i < n; ++i) {
            node_[i] = i;
            const T *from = row(i);
            for (int32_t k = i + 1; k < n; ++k) {
                after_[i] += from[k];
                before_[k] += from[k];
                greatest_ = std::max<double>(greatest_, from[k]);
            }
        }
        for (int32_t k = 0; k < n; ++k) sums_[k] = after_[k] + before_[k];
        search_.reset(n_, sums_.data(), n_left_, greatest_);
    }

    int32_t n_left() const { return n_left_; }

    /// Join the best pair into node `joined`, and write the lengths of its branches.
    std::array<int32_t, 2> join_best(int32_t joined, std::vector<double> &lengths) {
        const double factor = n_left_ - 2, constant = is_clustalw_ ? 2 * all() : 0;
        const auto [i, j] = search_.best(triangle(), sums_.data(), {factor, constant});
        const std::array<int32_t, 2> children{node_[i], node_[j]};
        const double distance = row(i)[j];
        const double first = 0.5 * (distance + (sums_[i] - distance) / factor - (sums_[j] - distance) / factor);
        lengths[children[0]] = branch(first - inside_[i]);
        lengths[children[1]] = branch(distance - first - inside_[j]);
        inside_[i] = 0.5 * (is_clustalw_ && distance <= 0 ? kLeastDistance : distance);
        node_[i] = joined;
        merge(i, j);
        return children;
    }

    /// Join the last three clusters.
    std::array<int32_t, 3> join_last(std::vector<double> &lengths) {
        close_up();
        const double d01 = row(0)[1], d02 = row(0)[2], d12 = row(1)[2];
        const double first = 0.5 * (d01 + d02 - d12);
        const double whole[3] = {first, d01 - first, d02 - first};
        for (int k = 0; k < 3; ++k) lengths[node_[k]] = branch(whole[k] - inside_[k]);
        return {node_[0], node_[1], node_[2]};
    }

  private:
    Triangle<T> triangle() const { return {distances_, n_}; }
    T *row(int64_t i) const { return triangle().row(i); }
    bool is_gone(int64_t k) const { return sums_[k] == kGone; }
    double branch(double length) const { return is_clustalw_ && std::fabs(length) < kShortestBranch ? 0.0 : length; }

    /// Read the distances of slot i to all others; those of removed slots are any finite numbers.
    void read(int32_t i, T *distances) const {
        const T *at = row(0) + i;
        for (int32_t k = 0; k < i; at += triangle().step(k), ++k) distances[k] = *at;
        distances[i] = 0;
        std::copy(row(i) + i + 1, row(i) + n_, distances + i + 1);
    }

    void write(int32_t i, const T *distances) {
        T *at = row(0) + i;
        for (int32_t k = 0; k < i; at += triangle().step(k), ++k) *at = distances[k];
        std::copy(distances + i + 1, distances + n_, row(i) + i + 1);
    }

    /// Return the sum of all distances, computed as in CLUSTAL W.
    double all() const {
        double sum = 0;
        for (int32_t k = 0; k < n_; ++k) sum += is_gone(k) ? 0.0 : after_[k];
        return sum;
    }

    /// Merge the clusters of slots i < j into slot i.
    void merge(int32_t i, int32_t j) {
        T *first = first_.data(), *second = second_.data();
        read(i, first);
        read(j, second);
        const auto part = [&](int64_t begin, int64_t end, std::vector<double> &sums_first,
                              std::vector<double> &sums_second) {
            kernels_->merge(first + begin, second + begin, sums_first.data() + begin, sums_second.data() + begin,
                            end - begin);
        };
        part(0, i, after_, after_);
        part(i + 1, j, before_, after_);
        part(j + 1, n_, before_, before_);
        write(i, first);
        after_[j] = kGone;  // permanently: every sum and -q of this slot is minus infinity from now on
        before_[j] = 0;
        before_[i] = after_[i] = 0;
        for (int32_t k = 0; k < n_; ++k) sums_[k] = after_[k] + before_[k];
        for (int32_t k = 0; k < n_; ++k) {
            if (is_gone(k) || k == i) continue;
            (k < i ? before_ : after_)[i] += first[k];
        }
        sums_[i] = after_[i] + before_[i];
        --n_left_;
        if (n_left_ < kFill * n_) close_up();
        else search_.joined(first, sums_.data(), n_left_, i, j);
    }

    /// Drop the removed slots from the triangle.
    void close_up() {
        std::vector<int32_t> kept;
        for (int32_t k = 0; k < n_; ++k)
            if (!is_gone(k)) kept.push_back(k);
        const auto n = static_cast<int32_t>(kept.size());
        const Triangle<T> closed{distances_, n};
        for (int32_t i = 0; i < n; ++i) {
            const T *from = row(kept[i]);
            T *to = closed.row(i);  // all data still to be moved lie behind it
            for (int32_t k = i + 1; k < n; ++k) to[k] = from[kept[k]];
            after_[i] = after_[kept[i]];
            before_[i] = before_[kept[i]];
            sums_[i] = sums_[kept[i]];
            inside_[i] = inside_[kept[i]];
            node_[i] = node_[kept[i]];
        }
        n_ = n;
        search_.reset(n_, sums_.data(), n_left_, greatest_);
    }

    /// Share of occupied slots below which removed ones are dropped.
    static constexpr double kFill = 0.75;

    int32_t n_, n_left_;
    const bool is_clustalw_;
    const JoiningKernels<T> *kernels_;
    T *const distances_;
    std::vector<double> after_, before_, sums_;  // sums of distances to later, to earlier and to all slots
    std::vector<double> inside_;                 // part of a cluster's distances that lies below its node
    std::vector<T> first_, second_;              // distances of the two clusters that are joined
    std::vector<int32_t> node_;
    double greatest_ = 0;
    PairSearch<T> search_;
};

}  // namespace

template <class T>
JoinedTree join_neighbours(T *distances, int32_t n, bool is_clustalw, const Poll &poll) {
    JoinedTree tree;
    tree.lengths.assign(2 * static_cast<size_t>(n) - 2, 0.0);
    tree.children.reserve(n - 3);
    Sometimes sometimes(poll);
    JoiningClusters<T> clusters(distances, n, is_clustalw);
    for (int32_t joined = n; clusters.n_left() > 3; ++joined) {
        if (!sometimes(joined - n)) return tree;
        tree.children.push_back(clusters.join_best(joined, tree.lengths));
    }
    tree.last = clusters.join_last(tree.lengths);
    return tree;
}

template JoinedTree join_neighbours(float *, int32_t, bool, const Poll &);
template JoinedTree join_neighbours(double *, int32_t, bool, const Poll &);

}  // namespace tropalign
