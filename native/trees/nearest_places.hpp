// Clusters of taxa in slots, the distances between them, and the closest two: shared by the variants of average
// linkage.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "../compute/buffer.hpp"

namespace tropalign {

/// Row j of the triangle of distances has those of slot j to the earlier slots, and the nearest earlier slot is stored:
///
///     slot     0    1    2    3
///       1     d01                  nearest[1] = 0
///       2     d02  d12             nearest[2] = 0 or 1, ...
///       3     d03  d13  d23
///
/// When two slots are joined, an average is at least the smaller of the two distances that it is made of, so that
/// a slot whose nearest was joined keeps its distance as a lower bound. Such a slot is only marked, and its
/// row is read again once its bound is the smallest. Most never are, so that n steps of O(n) remain (Müllner 2011,
/// "generic clustering").
template <class T>
class NearestPlaces {
  protected:
    static constexpr double kNone = std::numeric_limits<double>::infinity();

    /// `distances` are those of (0, 1), (0, 2), ..., (1, 2), ...
    NearestPlaces(const T *distances, int32_t n)
        : n_(n), triangle_(static_cast<size_t>(n) * (n - 1) / 2 + 1), node_(n), n_leaves_(n, 1), nearest_(n, -1),
          bound_(n, kNone), is_marked_(n, 0), is_alive_(n, 1) {
        transpose(distances);
        for (int32_t j = 0; j < n; ++j) {
            node_[j] = j;
            read_row(j);
        }
    }

    T &distance(int32_t a, int32_t b) { return a < b ? row(b)[a] : row(a)[b]; }

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

    /// Return the first slot with the smallest distance to one before it.
    int32_t closest() {
        while (true) {
            const auto j = static_cast<int32_t>(std::min_element(bound_.begin(), bound_.end()) - bound_.begin());
            if (!is_marked_[j]) return j;
            read_row(j);
        }
    }

    /// Remove a slot.
    void remove(int32_t place) {
        is_alive_[place] = 0;
        bound_[place] = kNone;
    }

    const int32_t n_;
    Buffer<T> triangle_;
    std::vector<int32_t> node_, n_leaves_, nearest_;
    std::vector<double> bound_;
    std::vector<uint8_t> is_marked_, is_alive_;

  private:
    T *row(int32_t j) { return triangle_.data() + static_cast<size_t>(j) * (j - 1) / 2; }

    void transpose(const T *distances) {
        constexpr int32_t kBlock = 64;  // rows written while the same cache lines are read
        for (int32_t begin = 1; begin < n_; begin += kBlock) {
            const int32_t end = std::min(begin + kBlock, n_);
            for (int32_t i = 0; i < end - 1; ++i) {
                const T *from = distances + static_cast<size_t>(i) * (2 * static_cast<size_t>(n_) - i - 1) / 2;
                for (int32_t j = std::max(begin, i + 1); j < end; ++j) row(j)[i] = from[j - i - 1];
            }
        }
    }
};

}  // namespace tropalign
