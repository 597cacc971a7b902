// Search for the two clusters that neighbour joining joins next, without examining most pairs.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "joining.hpp"

namespace tropalign {

/// Distances of the n remaining clusters. Row i has those of slot i to the slots after it, one row after the
/// other:
///
///     slot     1    2    3
///       0     d01  d02  d03
///       1          d12  d13
///       2               d23
template <class T>
struct Triangle {
    T *data;
    int64_t n;

    /// Item j of it, for j > i, is the distance of slots i and j.
    T *row(int64_t i) const { return data + i * (2 * n - i - 1) / 2 - (i + 1); }
    /// Distance from an item of row i to the item below it.
    int64_t step(int64_t i) const { return n - i - 2; }
};

/// Lower bounds of the distances of blocks of slots.
///
/// Divided by r - 2, q(i, j) is d(i, j) - u(i) - u(j) up to a constant, u(i) = R(i) / (r - 2) being about the mean
/// distance of i. From step to step all u change, but little. So once a row's slots j of a block were examined,
/// the smallest d(i, j) - u(j) among them stays a bound if it is lowered by the largest change of a u(j) of the
/// block since then:
///
///                    block 0        block 1      ...                    drift[b]: the sum, over the steps, of the
///     row i     | bound[0][i] | bound[1][i] |                           largest change of a u in block b
///
///     d(i, j) - u(j)  >=  bound[b][i] - drift[b]       for all j in block b
///
/// A bound is stored with the drift at its time added to it. Blocks whose bound is above the best pair so far need
/// not be examined; a bound per row, with the drift of all blocks, avoids examining even the blocks of most rows.
/// Values compared with bounds are widened by more than the rounding errors, so that the pair found is that of a
/// full search.
template <class T>
class PairSearch {
  public:
    struct Pair {
        int32_t i, j;
    };

    explicit PairSearch(const JoiningKernels<T> *kernels) : kernels_(kernels) {}

    /// Start with n slots, whose distances are at most `greatest`. Sums of removed slots are minus infinity.
    void reset(int64_t n, const double *sums, int64_t n_left, double greatest) {
        n_ = n;
        n_blocks_ = (n + kBlock - 1) / kBlock;
        greatest_ = greatest;
        means_.assign(n, 0.0);
        drifts_.assign(n_blocks_, 0.0);
        drift_ = 0;
        bounds_.assign(n_blocks_ * n, -kNone);
        row_bounds_.assign(n, -kNone);
        found_.resize(n);
        kernels_->change(sums, means_.data(), n, 1.0 / static_cast<double>(n_left - 2));
        for (int64_t k = 0; k < n; ++k)
            if (means_[k] == -kNone) row_bounds_[k] = kNone;
        first_ = 0;
    }

    /// Slot i holds a new cluster, with these distances to the slots before it, and slot j is removed; `sums` are
    /// those of the n_left remaining clusters.
    void joined(const T *distances, const double *sums, int64_t n_left, int32_t i, int32_t j) {
        const double inverse = 1.0 / static_cast<double>(n_left - 2);
        means_[i] = sums[i] * inverse;
        means_[j] = -kNone;
        row_bounds_[j] = kNone;
        double most = -kNone;
        for (int64_t b = 0; b < n_blocks_; ++b) {
            const int64_t begin = b * kBlock;
            const double change = kernels_->change(sums + begin, means_.data() + begin, size_of(b), inverse);
            if (change == -kNone) continue;
            drifts_[b] += change;
            most = std::max(most, change);
        }
        drift_ += most;
        const int64_t block = i / kBlock;
        kernels_->lower(distances, i, bounds_.data() + block * n_, drifts_[block] - means_[i], row_bounds_.data(),
                        drift_ - means_[i]);
        for (int64_t b = block; b < n_blocks_; ++b) bounds_[b * n_ + i] = -kNone;
        row_bounds_[i] = -kNone;
        first_ = i;
    }

    /// Return the pair i < j of the smallest q; ties go to the smallest j, then to the smallest i.
    Pair best(Triangle<T> triangle, const double *sums, Criterion criterion) {
        best_ = kNone;
        pair_ = {0, 0};
        slack_ = kSlack * (8 * greatest_ + criterion.constant / criterion.factor + std::fabs(drift_));
        limit_ = kNone;
        look(triangle, sums, criterion, first_);
        const double lowest = kernels_->lowest(row_bounds_.data(), means_.data(), n_);
        int64_t n_found = kernels_->within(row_bounds_.data(), means_.data(), n_, lowest, found_.data());
        for (int64_t k = 0; k < n_found; ++k) look(triangle, sums, criterion, found_[k]);
        n_found = kernels_->within(row_bounds_.data(), means_.data(), n_, limit_ + drift_, found_.data());
        for (int64_t k = 0; k < n_found; ++k) look(triangle, sums, criterion, found_[k]);
        return pair_;
    }

  private:
    static constexpr double kNone = std::numeric_limits<double>::infinity();
    /// Slots per bound.
    static constexpr int64_t kBlock = 256;
    /// More than the rounding errors of some ten thousand drifts and of q, relative to the numbers in them.
    static constexpr double kSlack = 1e-11;

    int64_t size_of(int64_t block) const { return std::min(kBlock, n_ - block * kBlock); }

    /// Examine the blocks of row i that may hold the best pair.
    void look(Triangle<T> triangle, const double *sums, Criterion criterion, int64_t i) {
        if (sums[i] == -kNone || row_bounds_[i] - drift_ - means_[i] > limit_) return;
        double lowest = kNone;
        for (int64_t b = (i + 1) / kBlock; b < n_blocks_; ++b) {
            double &bound = bounds_[b * n_ + i];
            if (bound - drifts_[b] - means_[i] <= limit_) look_at_block(triangle, sums, criterion, i, b, bound);
            lowest = std::min(lowest, bound - drifts_[b]);
        }
        row_bounds_[i] = lowest + drift_;
    }

    void look_at_block(Triangle<T> triangle, const double *sums, Criterion criterion, int64_t i, int64_t b,
                       double &bound) {
        const int64_t begin = std::max(b * kBlock, i + 1), n = std::min((b + 1) * kBlock, n_) - begin;
        const T *distances = triangle.row(i) + begin;
        const double q = kernels_->least(distances, sums + begin, n, criterion, sums[i]);
        if (q <= best_ && q != kNone) {
            int64_t at = 0;
            while (((criterion.factor * distances[at] + criterion.constant) - sums[i]) - sums[begin + at] != q) ++at;
            const Pair found{static_cast<int32_t>(i), static_cast<int32_t>(begin + at)};
            if (q < best_ || found.j < pair_.j || (found.j == pair_.j && found.i < pair_.i)) pair_ = found;
            best_ = q;
            limit_ = (q - criterion.constant) / criterion.factor + slack_;
        }
        bound = ((q - criterion.constant) + sums[i]) / criterion.factor + drifts_[b];
    }

    const JoiningKernels<T> *kernels_;
    int64_t n_ = 0, n_blocks_ = 0, first_ = 1;
    double greatest_ = 0, drift_ = 0;
    std::vector<double> means_, drifts_, bounds_, row_bounds_;
    std::vector<int32_t> found_;
    double best_ = kNone, limit_ = kNone, slack_ = 0;
    Pair pair_{0, 0};
};

}  // namespace tropalign
