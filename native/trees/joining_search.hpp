// Which two clusters neighbour joining joins next, found without looking at most pairs.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "joining.hpp"

namespace tropalign {

/// Distances of the clusters that are left: row j of a square, and how long its rows are.
template <class T>
struct Square {
    const T *data;
    int64_t stride;

    const T *row(int64_t j) const { return data + j * stride; }
};

/// Bounds below the distances of blocks of places.
///
/// Divided by r - 2, q(i, j) is d(i, j) - u(i) - u(j) but for a constant, u(i) = R(i) / (r - 2) being about the mean
/// distance of i. From step to step all u change, but little. So once a row's places i of a block were looked at, the
/// smallest d(i, j) - u(i) among them stays a bound, when it is lowered by the largest change of a u(i) of the block
/// since:
///
///                    block 0        block 1      ...                    drift[b]: the sum, over the steps, of the
///     row j     | bound[0][j] | bound[1][j] |                           largest change of a u in block b
///
///     d(i, j) - u(i)  >=  bound[b][j] - drift[b]       for all i in block b
///
/// A bound is kept with the drift at its time added to it. Blocks whose bound is above the best pair so far need no
/// look; a bound per row, with the drift of all blocks, spares most rows even the look at their blocks. What is
/// compared with bounds is widened by more than the roundings, so that the pair found is that of a full search.
template <class T>
class PairSearch {
  public:
    struct Pair {
        int32_t i, j;
    };

    explicit PairSearch(const JoiningKernels<T> *kernels) : kernels_(kernels) {}

    /// Begins anew with n places, whose distances are `greatest` at most. Sums of places that are gone are minus
    /// infinity.
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
        first_ = 1;
    }

    /// Place i holds a new cluster and place j none any more; `sums` are those of the n_left clusters that are left.
    void joined(Square<T> square, const double *sums, int64_t n_left, int32_t i, int32_t j) {
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
        const int64_t block = i / kBlock, after = i + 1;
        kernels_->lower(square.row(i) + after, n_ - after, bounds_.data() + block * n_ + after,
                        drifts_[block] - means_[i], row_bounds_.data() + after, drift_ - means_[i]);
        for (int64_t b = 0; b <= block; ++b) bounds_[b * n_ + i] = -kNone;
        row_bounds_[i] = -kNone;
        first_ = i;
    }

    /// The pair i < j of the smallest q, of these that of the smallest j, of these that of the smallest i.
    Pair best(Square<T> square, const double *sums, Criterion criterion) {
        best_ = kNone;
        pair_ = {0, 0};
        slack_ = kSlack * (8 * greatest_ + criterion.constant / criterion.factor + std::fabs(drift_));
        limit_ = kNone;
        look(square, sums, criterion, first_);
        const double lowest = kernels_->lowest(row_bounds_.data(), means_.data(), n_);
        int64_t n_found = kernels_->within(row_bounds_.data(), means_.data(), n_, lowest, found_.data());
        for (int64_t k = 0; k < n_found; ++k) look(square, sums, criterion, found_[k]);
        n_found = kernels_->within(row_bounds_.data(), means_.data(), n_, limit_ + drift_, found_.data());
        for (int64_t k = 0; k < n_found; ++k) look(square, sums, criterion, found_[k]);
        return pair_;
    }

  private:
    static constexpr double kNone = std::numeric_limits<double>::infinity();
    /// Places per bound.
    static constexpr int64_t kBlock = 256;
    /// More than the roundings of some ten thousand drifts and of q, as a share of the numbers in them.
    static constexpr double kSlack = 1e-11;

    int64_t size_of(int64_t block) const { return std::min(kBlock, n_ - block * kBlock); }

    /// Looks at the blocks of row j that may hold the best pair.
    void look(Square<T> square, const double *sums, Criterion criterion, int64_t j) {
        if (sums[j] == -kNone || row_bounds_[j] - drift_ - means_[j] > limit_) return;
        double lowest = kNone;
        for (int64_t b = 0; b * kBlock < j; ++b) {
            double &bound = bounds_[b * n_ + j];
            if (bound - drifts_[b] - means_[j] <= limit_) look_at_block(square, sums, criterion, j, b, bound);
            lowest = std::min(lowest, bound - drifts_[b]);
        }
        row_bounds_[j] = lowest + drift_;
    }

    void look_at_block(Square<T> square, const double *sums, Criterion criterion, int64_t j, int64_t b, double &bound) {
        const int64_t begin = b * kBlock, n = std::min(kBlock, j - begin);
        const T *distances = square.row(j) + begin;
        const double q = kernels_->least(distances, sums + begin, n, criterion, sums[j]);
        if (q < best_ || (q == best_ && j < pair_.j)) {
            best_ = q;
            int64_t at = 0;
            while (((criterion.factor * distances[at] + criterion.constant) - sums[begin + at]) - sums[j] != q) ++at;
            pair_ = {static_cast<int32_t>(begin + at), static_cast<int32_t>(j)};
            limit_ = (q - criterion.constant) / criterion.factor + slack_;
        }
        bound = ((q - criterion.constant) + sums[j]) / criterion.factor + drifts_[b];
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
