#include "joining.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "../compute/buffer.hpp"
#include "../simd/dispatch.hpp"
#include "joining_search.hpp"
#include "sometimes.hpp"

namespace tropalign {

TROPALIGN_DISPATCH(JoiningKernels<float>, float_joining_kernels)
TROPALIGN_DISPATCH(JoiningKernels<double>, double_joining_kernels)

namespace {

/// The sum of a place that is gone.
constexpr double kGone = -std::numeric_limits<double>::infinity();
/// CLUSTAL W's: the shortest branch, and the distance in place of 0.
constexpr double kShortestBranch = 0.0001, kLeastDistance = 0.000001;

const JoiningKernels<float> *kernels_of(float) { return selected_float_joining_kernels(); }
const JoiningKernels<double> *kernels_of(double) { return selected_double_joining_kernels(); }

/// The clusters that are left, in a square of distances. Places that are gone are taken out of it now and then.
template <class T>
class JoiningClusters {
  public:
    JoiningClusters(const T *distances, int32_t n, bool is_clustalw)
        : n_(n), n_left_(n), is_clustalw_(is_clustalw), kernels_(kernels_of(T())), square_(static_cast<size_t>(n) * n),
          after_(n, 0.0), before_(n, 0.0), sums_(n), inside_(n, 0.0), node_(n), search_(kernels_) {
        fill(distances);
        for (int32_t i = 0; i < n; ++i) {
            node_[i] = i;
            const T *from = row(i);
            for (int32_t k = 0; k < i; ++k) after_[k] += from[k];
            for (int32_t k = i + 1; k < n; ++k) before_[k] += from[k];
        }
        for (int32_t k = 0; k < n; ++k) sums_[k] = after_[k] + before_[k];
        for (int32_t i = 1; i < n; ++i) greatest_ = std::max<double>(greatest_, *std::max_element(row(i), row(i) + i));
        search_.reset(n_, sums_.data(), n_left_, greatest_);
    }

    int32_t n_left() const { return n_left_; }

    /// Joins the best pair into node `joined`, and writes the lengths of its branches.
    std::array<int32_t, 2> join_best(int32_t joined, std::vector<double> &lengths) {
        const double factor = n_left_ - 2, constant = is_clustalw_ ? 2 * all() : 0;
        const auto [i, j] = search_.best({square_.data(), n_}, sums_.data(), {factor, constant});
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

    /// The three that are left.
    std::array<int32_t, 3> join_last(std::vector<double> &lengths) {
        close_up();
        const double d01 = row(0)[1], d02 = row(0)[2], d12 = row(1)[2];
        const double first = 0.5 * (d01 + d02 - d12);
        const double whole[3] = {first, d01 - first, d02 - first};
        for (int k = 0; k < 3; ++k) lengths[node_[k]] = branch(whole[k] - inside_[k]);
        return {node_[0], node_[1], node_[2]};
    }

  private:
    T *row(int64_t i) { return square_.data() + i * n_; }
    bool is_gone(int64_t k) const { return sums_[k] == kGone; }
    double branch(double length) const { return is_clustalw_ && std::fabs(length) < kShortestBranch ? 0.0 : length; }

    /// Both halves of the square: the upper one as it is read, the lower one in blocks that the cache holds.
    void fill(const T *distances) {
        constexpr int32_t kSide = 32;
        for (int32_t i = 0; i < n_; ++i) {
            row(i)[i] = 0;
            std::copy_n(distances, n_ - i - 1, row(i) + i + 1);
            distances += n_ - i - 1;
        }
        for (int32_t top = 0; top < n_; top += kSide)
            for (int32_t left = 0; left <= top; left += kSide)
                for (int32_t i = top; i < std::min<int32_t>(top + kSide, n_); ++i)
                    for (int32_t k = left; k < std::min(left + kSide, i); ++k) row(i)[k] = row(k)[i];
    }

    /// The sum of all distances, as CLUSTAL W makes it.
    double all() const {
        double sum = 0;
        for (int32_t k = 0; k < n_; ++k) sum += is_gone(k) ? 0.0 : after_[k];
        return sum;
    }

    /// The cluster joined from those of places i < j gets place i.
    void merge(int32_t i, int32_t j) {
        T *first = row(i);
        const T *second = row(j);
        const auto part = [&](int64_t begin, int64_t end, std::vector<double> &sums_first,
                              std::vector<double> &sums_second) {
            kernels_->merge(first + begin, second + begin, sums_first.data() + begin, sums_second.data() + begin,
                            end - begin);
        };
        part(0, i, after_, after_);
        part(i + 1, j, before_, after_);
        part(j + 1, n_, before_, before_);
        first[i] = 0;
        after_[j] = kGone;  // stays so, and makes every sum and -q of this place minus infinity
        before_[j] = 0;
        before_[i] = after_[i] = 0;
        for (int32_t k = 0; k < n_; ++k) sums_[k] = after_[k] + before_[k];
        for (int32_t k = 0; k < n_; ++k) {
            if (is_gone(k) || k == i) continue;
            (k < i ? before_ : after_)[i] += first[k];
            row(k)[i] = first[k];
        }
        sums_[i] = after_[i] + before_[i];
        --n_left_;
        if (n_left_ < kFill * n_) close_up();
        else search_.joined({square_.data(), n_}, sums_.data(), n_left_, i, j);
    }

    /// Takes the places that are gone out of the square.
    void close_up() {
        std::vector<int32_t> kept;
        for (int32_t k = 0; k < n_; ++k)
            if (!is_gone(k)) kept.push_back(k);
        const auto n = static_cast<int32_t>(kept.size());
        for (int32_t i = 0; i < n; ++i) {
            const T *from = row(kept[i]);
            T *to = square_.data() + static_cast<int64_t>(i) * n;  // behind which all that is still to be moved lies
            for (int32_t k = 0; k < n; ++k) to[k] = from[kept[k]];
            after_[i] = after_[kept[i]];
            before_[i] = before_[kept[i]];
            sums_[i] = sums_[kept[i]];
            inside_[i] = inside_[kept[i]];
            node_[i] = node_[kept[i]];
        }
        n_ = n;
        search_.reset(n_, sums_.data(), n_left_, greatest_);
    }

    /// The share of places that hold clusters, below which those that do not are taken out.
    static constexpr double kFill = 0.75;

    int32_t n_, n_left_;
    const bool is_clustalw_;
    const JoiningKernels<T> *kernels_;
    Buffer<T> square_;
    std::vector<double> after_, before_, sums_;  // of distances to places after and before, and to all
    std::vector<double> inside_;                 // how much of its distances lies below a cluster's node
    std::vector<int32_t> node_;
    double greatest_ = 0;
    PairSearch<T> search_;
};

}  // namespace

template <class T>
JoinedTree join_neighbours(const T *distances, int32_t n, bool is_clustalw, const Poll &poll) {
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

template JoinedTree join_neighbours(const float *, int32_t, bool, const Poll &);
template JoinedTree join_neighbours(const double *, int32_t, bool, const Poll &);

}  // namespace tropalign
