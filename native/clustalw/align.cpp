#include "align.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "../compute/buffer.hpp"

namespace tropalign {
namespace {

/// Rows whose scores are computed at a time.
constexpr int64_t kRows = 8;
/// A value below the score of any path, with room to subtract from it.
constexpr int32_t kNowhere = -(1 << 30);

class Aligner {
  public:
    Aligner(const ProfilePair &pair, size_t most_step_bytes, const std::function<bool()> &is_stopped)
        : pair_(pair), is_stopped_(is_stopped), kernels_(*selected_profile_kernels()), n_blocks_(pair.n_blocks()),
          width_(static_cast<size_t>(n_blocks_ * kProfileBlock)), best_(width_), down_(width_), zeros_(width_),
          open_(width_), gains_(width_), extends_(width_), scores_(width_ * kRows),
          rows_kept_(std::clamp<int64_t>(static_cast<int64_t>(most_step_bytes / (sizeof(StepBits) * n_blocks_)),
                                         std::min(kRows, pair.n_first), pair.n_first)),
          steps_(static_cast<size_t>(rows_kept_ * n_blocks_)) {}

    std::vector<MergeStep> run() {
        prepare_columns();
        first_row();
        for (int64_t row = 0; row < pair_.n_first; row += rows_kept_) {
            kept_.push_back({best_, down_, edge_});
            compute(row, std::min(row + rows_kept_, pair_.n_first));
        }
        return walk();
    }

  private:
    struct KeptRow {
        std::vector<int32_t> best, down;
        int32_t edge;
    };

    void prepare_columns() {
        const GapCosts &second = pair_.second;
        int32_t sum = 0;
        begin_gain_ = -second.open[1];
        for (int64_t j = 1; j <= pair_.n_second; ++j) {
            sum += second.extend[j];
            open_[j - 1] = second.open[j];
            extends_[j - 1] = sum;
            gains_[j - 1] = sum - second.open[j + 1];
        }
    }

    /// H(0, j): gaps before the first profile.
    void first_row() {
        std::fill(down_.begin(), down_.end(), kNowhere);
        if (!pair_.has_end_gaps) return;
        for (int64_t j = 0; j < pair_.n_second; ++j)
            best_[j] = -pair_.first.open[0] - pair_.second.open[1] - extends_[j];
    }

    /// Compute rows (begin, end], whose steps are stored from the start of steps_ on.
    void compute(int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
            if ((row - begin) % kRows == 0) {
                if (is_stopped_()) return;
                pair_.score(kernels_, row, std::min(kRows, end - row), 0, n_blocks_, scores_.data(),
                            static_cast<int64_t>(width_));
            }
            next_row(row + 1, scores_.data() + (row - begin) % kRows * static_cast<int64_t>(width_),
                     steps_.data() + (row - begin) * n_blocks_);
        }
    }

    void next_row(int64_t i, const int32_t *scores, StepBits *steps) {
        const bool ends = pair_.has_end_gaps, is_free = !ends && i == pair_.n_first;
        ProfileRow row{};
        row.best = best_.data();
        row.down = down_.data();
        row.best_before = edge_;
        if (ends) edge_ -= (i == 1 ? pair_.first.open[1] + pair_.second.open[0] : 0) + pair_.first.extend[i];
        row.begin = edge_;
        row.scores = scores;
        row.down_open = open_.data();
        row.open = pair_.first.open[i];
        row.down_extend = pair_.first.extend[i];
        row.begin_gain = is_free ? 0 : begin_gain_;
        row.gains = is_free ? zeros_.data() : gains_.data();
        row.extends = is_free ? zeros_.data() : extends_.data();
        row.across_open = is_free ? 0 : pair_.first.open[i];
        row.n_blocks = n_blocks_;
        row.last = pair_.n_second - 1;
        row.is_last_free = !ends;
        kernels_.next_row(row, steps);
    }

    /// Trace back from the end.
    std::vector<MergeStep> walk() {
        std::vector<MergeStep> found;
        enum { anywhere, in_down, in_across } state = anywhere;
        int64_t i = pair_.n_first, j = pair_.n_second, kept = static_cast<int64_t>(kept_.size()) - 1;
        while (i > 0 && j > 0) {
            if (is_stopped_()) return found;
            if (i <= kept * rows_kept_) {  // the stored steps of this row have been overwritten
                --kept;
                best_ = kept_[static_cast<size_t>(kept)].best;
                down_ = kept_[static_cast<size_t>(kept)].down;
                edge_ = kept_[static_cast<size_t>(kept)].edge;
                compute(kept * rows_kept_, i);
            }
            const StepBits &steps = steps_[(i - 1 - kept * rows_kept_) * n_blocks_ + (j - 1) / kProfileBlock];
            const int bit = static_cast<int>((j - 1) % kProfileBlock);
            if (state == anywhere) {
                if (!(steps.not_diagonal >> bit & 1)) {
                    found.push_back(MergeStep::both);
                    --i;
                    --j;
                    continue;
                }
                state = steps.is_down >> bit & 1 ? in_down : in_across;
            }
            if (state == in_down) {
                if (steps.opens_down >> bit & 1) state = anywhere;
                found.push_back(MergeStep::first_only);
                --i;
            } else {
                if (steps.opens_across >> bit & 1) state = anywhere;
                found.push_back(MergeStep::second_only);
                --j;
            }
        }
        found.insert(found.end(), static_cast<size_t>(i), MergeStep::first_only);
        found.insert(found.end(), static_cast<size_t>(j), MergeStep::second_only);
        std::reverse(found.begin(), found.end());
        return found;
    }

    const ProfilePair &pair_;
    const std::function<bool()> &is_stopped_;
    const ProfileKernels &kernels_;
    const int64_t n_blocks_;
    const size_t width_;
    std::vector<int32_t> best_, down_, zeros_, open_, gains_, extends_, scores_;
    const int64_t rows_kept_;
    Buffer<StepBits> steps_;
    std::vector<KeptRow> kept_;  // the row before each stretch of rows_kept_ rows
    int32_t edge_ = 0, begin_gain_ = 0;
};

/// True if no sum of scores and costs can exceed 32 bits.
bool fits(const ProfilePair &pair) {
    constexpr int64_t kMostScore = int64_t{4096} * kFineUnits;
    const auto sum = [](const std::vector<int32_t> &costs) {
        return std::accumulate(costs.begin(), costs.end(), int64_t{0});
    };
    const auto most = [](const std::vector<int32_t> &costs) { return *std::max_element(costs.begin(), costs.end()); };
    const int64_t opens = 4 * (int64_t{most(pair.first.open)} + most(pair.second.open));
    const int64_t costs = sum(pair.first.extend) + sum(pair.second.extend) + opens;
    return std::min(pair.n_first, pair.n_second) * kMostScore + costs < INT32_MAX && costs < -int64_t{kNowhere};
}

}  // namespace

std::vector<MergeStep> align_by_rows(const ProfilePair &pair, size_t most_step_bytes,
                                     const std::function<bool()> &is_stopped) {
    if (!fits(pair)) throw std::length_error("profiles are too long for sums of 32 bits");
    return Aligner(pair, most_step_bytes, is_stopped).run();
}

}  // namespace tropalign
