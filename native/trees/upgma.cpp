#include "upgma.hpp"

#include <algorithm>
#include <limits>

#include "../compute/buffer.hpp"
#include "sometimes.hpp"

namespace tropalign {
namespace {

/// The clusters that are left. Row j of the triangle of distances has those of place j to the places before it, and the
/// nearest of these is kept:
///
///     place    0    1    2    3
///       1     d01                  nearest[1] = 0
///       2     d02  d12             nearest[2] = 0 or 1, ...
///       3     d03  d13  d23
///
/// When i < j are joined, a place after j whose nearest was i or j keeps its distance as a lower bound, since an
/// average is no smaller than both of what it is made of. Such a place is only marked, and its row is read again once
/// its bound is the smallest. Most never are, so that n steps of O(n) remain (Müllner 2011, "generic clustering"). An
/// average that is below the bound (of a place between i and j, or by rounding) becomes the bound.
template <class T>
class Clusters {
  public:
    Clusters(const T *distances, int32_t n)
        : n_(n), triangle_(static_cast<size_t>(n) * (n - 1) / 2), node_(n), n_leaves_(n, 1), nearest_(n, -1),
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
        const std::array<int32_t, 2> children{node_[i], node_[j]};
        const double distance = bound_[j];
        is_alive_[j] = 0;
        bound_[j] = kNone;
        average(i, j);
        node_[i] = joined;
        n_leaves_[i] += n_leaves_[j];
        read_row(i);
        return {children, distance};
    }

  private:
    static constexpr double kNone = std::numeric_limits<double>::infinity();

    T *row(int32_t j) { return triangle_.data() + static_cast<size_t>(j) * (j - 1) / 2; }
    T &distance(int32_t a, int32_t b) { return a < b ? row(b)[a] : row(a)[b]; }

    void transpose(const T *distances) {
        constexpr int32_t kBlock = 64;  // of rows written while the same cache lines are read
        for (int32_t begin = 1; begin < n_; begin += kBlock) {
            const int32_t end = std::min(begin + kBlock, n_);
            for (int32_t i = 0; i < end - 1; ++i) {
                const T *from = distances + static_cast<size_t>(i) * (2 * static_cast<size_t>(n_) - i - 1) / 2;
                for (int32_t j = std::max(begin, i + 1); j < end; ++j) row(j)[i] = from[j - i - 1];
            }
        }
    }

    void read_row(int32_t j) {
        const T *values = row(j);
        double best = kNone;
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

    /// Distances of the cluster joined from i and j to all others, at place i.
    void average(int32_t i, int32_t j) {
        const double m = n_leaves_[i], n = n_leaves_[j];
        for (int32_t k = 0; k < n_; ++k) {
            if (!is_alive_[k] || k == i) continue;
            T &kept = distance(i, k);
            const double mean = kept = static_cast<T>((kept * m + distance(j, k) * n) / (m + n));
            if (k < i) continue;
            if (mean < bound_[k] || (mean == bound_[k] && !is_marked_[k] && i < nearest_[k])) {
                bound_[k] = mean;
                nearest_[k] = i;
                is_marked_[k] = 0;
            } else if ((nearest_[k] == i && mean > bound_[k]) || nearest_[k] == j) {
                is_marked_[k] = 1;
            }
        }
    }

    const int32_t n_;
    Buffer<T> triangle_;
    std::vector<int32_t> node_, n_leaves_, nearest_;
    std::vector<double> bound_;
    std::vector<uint8_t> is_marked_, is_alive_;
};

}  // namespace

template <class T>
AveragedTree join_averages(const T *distances, int32_t n, const Poll &poll) {
    AveragedTree tree;
    Sometimes sometimes(poll);
    Clusters<T> clusters(distances, n);
    for (int32_t joined = n; joined < 2 * n - 1; ++joined) {
        if (!sometimes(joined - n)) return tree;
        const auto [children, distance] = clusters.join_closest(joined);
        tree.children.push_back(children);
        tree.distances.push_back(distance);
    }
    return tree;
}

template AveragedTree join_averages(const float *, int32_t, const Poll &);
template AveragedTree join_averages(const double *, int32_t, const Poll &);

}  // namespace tropalign
