// Bounds of pruning.hpp in lanes: the rows of a unit that a group of columns sweeps.
#pragma once
#include <algorithm>
#include <memory>
#include <vector>

#include "../simd/vec.hpp"
#include "pruning.hpp"

namespace tropalign::TROPALIGN_ISA {

template <class T, int B>
class PrunedRows {
    using V = Vec<T, B>;
    static constexpr int L = Lanes<T, B>::count;

  public:
    /// Fewest cells of a unit, and largest share of its columns in which alignments may start, in tenths: otherwise the
    /// bounds take longer than the cells left out.
    static constexpr int64_t kFewestCells = 400'000;
    static constexpr int kMostTenths = 9;
    /// Rows on either side of the first alignments of all lanes.
    static constexpr int kMargin = 12;

    /// Compute the bounds of the lanes, which pair_of(lane) returns; false if too few cells could be left out. m and n
    /// are the unit's rows and columns; `floor` represents the score 0, `most` is the highest score.
    template <class PairOf>
    bool prepare(const Scoring &scoring, int n_lanes, PairOf pair_of, int m, int n, int64_t floor, int64_t most) {
        if (int64_t{m} * n < kFewestCells || !Pruning::suits(scoring)) return false;
        floor_ = floor, most_ = most, m_ = m;
        const int length = seed_length(std::max(m, n));
        rows_ = (m + kPruneStep - 1) / kPruneStep + 1, columns_ = (n + kPruneStep - 1) / kPruneStep + 1;
        std::unique_ptr<Pruning> pruning;
        const uint8_t *codes = nullptr;
        for (int l = 0; l < n_lanes; ++l) {
            const LanePair &pair = pair_of(l);
            if (pair.rows.codes != codes) pruning = std::make_unique<Pruning>(scoring, pair.rows, length);
            codes = pair.rows.codes;
            limits_[l] = pruning->limits(pair);
            if (!pays(limits_[l])) return false;
        }
        for (int l = n_lanes; l < L; ++l) limits_[l] = limits_[n_lanes - 1];
        set_corridor();
        return true;
    }

    /// Rows of a first sweep of a group of columns, around the alignments of pruning.hpp.
    int first_row(int group) const { return first_[group]; }
    int end_row(int group) const { return end_[group]; }

    /// Use the scores of a first sweep as lower bounds, and set the thresholds.
    void begin(const T *scores) {
        for (int l = 0; l < L; ++l)
            limits_[l].least =
                static_cast<int32_t>(std::max<int64_t>(limits_[l].least, std::min<int64_t>(scores[l], most_) - floor_));
        by_row_.resize(static_cast<size_t>(rows_) * L), by_column_.resize(static_cast<size_t>(columns_) * L);
        for (int k = 0; k < rows_; ++k) set(by_row_.data() + static_cast<ptrdiff_t>(k) * L, k, &PruneLimits::by_row);
        for (int k = 0; k < columns_; ++k)
            set(by_column_.data() + static_cast<ptrdiff_t>(k) * L, k, &PruneLimits::by_column);
    }

    /// Return each lane's highest useless H: no path from there into the rows from kPruneStep * row on and the columns
    /// from kPruneStep * column on is optimal.
    V useless(int row, int column) const {
        return vmax(load<T, B>(by_row_.data() + static_cast<ptrdiff_t>(row) * L),
                    load<T, B>(by_column_.data() + static_cast<ptrdiff_t>(column) * L));
    }
    /// Return the highest score that is certainly too low, per lane.
    V too_low() const { return useless(rows_ - 1, columns_ - 1); }

    /// Return the number of row blocks in which alignments may start.
    int blocks_with_starts() const {
        int blocks = 1;
        while (blocks < rows_ - 1 && any_gt<T, B>(splat<T, B>(static_cast<T>(floor_)), useless(blocks, 0))) ++blocks;
        return blocks;
    }

  private:
    static bool pays(const PruneLimits &limits) {
        return limits.by_column[limits.by_column.size() * kMostTenths / 10] < limits.least;
    }

    void set_corridor() {
        first_.assign(columns_, m_), end_.assign(columns_, 0);
        for (int k = 0; k < columns_; ++k)
            for (const PruneLimits &limits : limits_) {
                if (k >= static_cast<int>(limits.first_row.size()) || limits.end_row[k] == 0) continue;
                first_[k] = std::min(first_[k], limits.first_row[k] - kMargin);
                end_[k] = std::max(end_[k], limits.end_row[k] + kMargin);
            }
        for (int k = columns_ - 2; k >= 0; --k) first_[k] = std::min(first_[k], first_[k + 1]);
        for (int k = 1; k < columns_; ++k) end_[k] = std::max(end_[k], end_[k - 1]);
        for (int k = 0; k < columns_; ++k) {
            first_[k] = std::max(first_[k], 0) / kPruneStep * kPruneStep;
            end_[k] = std::min((end_[k] + kPruneStep - 1) / kPruneStep * kPruneStep, m_);
        }
    }

    /// Set the thresholds of index k in all lanes.
    void set(T *to, int k, std::vector<int32_t> PruneLimits::*rest) const {
        for (int l = 0; l < L; ++l) {
            const std::vector<int32_t> &bounds = limits_[l].*rest;
            const int64_t bound = k < static_cast<int>(bounds.size()) ? bounds[k] : 0;
            to[l] = static_cast<T>(std::clamp(floor_ + limits_[l].least - bound - 1, floor_ - 1, most_));
        }
    }

    PruneLimits limits_[L];
    int64_t floor_ = 0, most_ = 0;
    int m_ = 0, rows_ = 0, columns_ = 0;  // rows_, columns_: number of bounds
    std::vector<int32_t> first_, end_;
    std::vector<T> by_row_, by_column_;
};

}  // namespace tropalign::TROPALIGN_ISA
