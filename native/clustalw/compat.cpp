// The alignment that CLUSTALW 2.1 finds among equally good ones.
#include <algorithm>
#include <numeric>

#include "align.hpp"

namespace tropalign {
namespace {

/// Steps as runs. A run of columns of the second profile that follows one of the first is put before it, and two
/// adjacent runs of the first are merged.
class Runs {
  public:
    void both() { add(0); }
    void first_only(int64_t columns) {
        if (last_ < 0) last_ = runs_.back() -= columns;
        else add(-columns);
    }
    void second_only(int64_t columns) {
        if (last_ < 0) {
            runs_.back() = columns;
            runs_.push_back(last_);
        } else {
            add(columns);
        }
    }

    std::vector<MergeStep> steps() const {
        std::vector<MergeStep> found;
        for (int64_t run : runs_)
            if (run == 0) found.push_back(MergeStep::both);
            else
                found.insert(found.end(), static_cast<size_t>(run > 0 ? run : -run),
                             run > 0 ? MergeStep::second_only : MergeStep::first_only);
        return found;
    }

  private:
    void add(int64_t run) { runs_.push_back(last_ = run); }

    std::vector<int64_t> runs_;  // 0: both; k: k columns of the second; -k: of the first
    int64_t last_ = 0;
};

/// A subproblem: m columns of the first profile after column a, and n of the second after column b.
struct Part {
    int64_t a, b, m, n;
    bool opens_before, opens_after;  // a gap in the second at the start, or at the end, has to be opened
};

class Halver {
  public:
    Halver(const ProfilePair &pair, const std::function<bool()> &is_stopped)
        : pair_(pair), is_stopped_(is_stopped), kernels_(*selected_profile_kernels()),
          free_(static_cast<size_t>(pair.n_second) + 2), h_(free_.size()), d_(free_.size()), r_(free_.size()),
          s_(free_.size()), opens_(free_.size()), scores_(static_cast<size_t>(pair.n_blocks() * kProfileBlock * kRows)),
          first_sums_(sums_of(pair.first.extend)), second_sums_(sums_of(pair.second.extend)) {}

    std::vector<MergeStep> run() {
        solve({0, 0, pair_.n_first, pair_.n_second, pair_.first.open[0] != 0,
               pair_.first.open[static_cast<size_t>(pair_.n_first)] != 0});
        return runs_.steps();
    }

  private:
    static constexpr int64_t kRows = 8;  // rows of scores computed at a time

    static std::vector<int32_t> sums_of(const std::vector<int32_t> &values) {
        std::vector<int32_t> sums(values.size() + 1);
        std::partial_sum(values.begin(), values.end(), sums.begin() + 1);
        return sums;
    }

    bool is_free_row(int64_t i) const { return !pair_.has_end_gaps && (i == 0 || i == pair_.n_first); }
    bool is_free_column(int64_t j) const { return !pair_.has_end_gaps && (j == 0 || j == pair_.n_second); }

    // Costs of opening a gap in the first profile next to its column i that starts at column j of the second, and
    // vice versa.
    int32_t first_open(int64_t i, int64_t j) const {
        return is_free_row(i) ? 0 : pair_.second.open[j] + pair_.first.open[i];
    }
    int32_t second_open(int64_t i, int64_t j) const {
        return is_free_column(j) ? 0 : pair_.first.open[i] + pair_.second.open[j];
    }
    int32_t first_extend(int64_t i, int64_t j) const { return is_free_row(i) ? 0 : pair_.second.extend[j]; }
    int32_t second_extend(int64_t i, int64_t j) const { return is_free_column(j) ? 0 : pair_.first.extend[i]; }

    /// Cost of a whole gap of k columns. The last column of a profile extends for free.
    int32_t first_gap(int64_t i, int64_t j, int64_t k) const {
        if (k <= 0 || is_free_row(i)) return 0;
        const int64_t end = std::max(j, std::min(j + k, pair_.n_second));
        return pair_.second.open[j] + pair_.first.open[i] + second_sums_[end] - second_sums_[j];
    }
    int32_t second_gap(int64_t i, int64_t j, int64_t k) const {
        if (k <= 0 || is_free_column(j)) return 0;
        const int64_t end = std::max(i, std::min(i + k, pair_.n_first));
        return pair_.first.open[i] + pair_.second.open[j] + first_sums_[end] - first_sums_[i];
    }

    /// Compute the scores of columns [row, end) of the first profile (from 0) with the columns of the part.
    void load_scores(int64_t row, int64_t end, const Part &part) {
        const int64_t block = part.b / kProfileBlock, end_block = (part.b + part.n + kProfileBlock - 1) / kProfileBlock;
        stride_ = (end_block - block) * kProfileBlock;
        first_row_ = row;
        pair_.score(kernels_, row, end - row, block, end_block, scores_.data(), stride_);
    }
    /// Return the scores of a loaded column; element [j] is that with column part.b + j, counted from 1.
    const int32_t *scores_of(int64_t row, const Part &part) const {
        return scores_.data() + (row - first_row_) * stride_ + part.b % kProfileBlock - 1;
    }

    void solve(const Part &part) {
        if (is_stopped_()) return;
        if (part.n <= 0) {
            if (part.m > 0) runs_.first_only(part.m);
            return;
        }
        if (part.m <= 0) return runs_.second_only(part.n);
        if (part.m == 1) return place_one(part);
        const int64_t half = part.m / 2;
        forward(part, half);
        backward(part, half);
        const auto [middle, is_gap] = best_middle(part.n);
        const auto &[a, b, m, n, before, after] = part;
        if (!is_gap) {
            solve({a, b, half, middle, before, true});
            solve({a + half, b + middle, m - half, n - middle, true, after});
        } else {
            solve({a, b, half - 1, middle, before, false});
            runs_.first_only(2);
            solve({a + half + 1, b + middle, m - half - 1, n - middle, false, after});
        }
    }

    /// Align a single column of the first profile with the best column of the second, or with a gap.
    void place_one(const Part &part) {
        const auto &[a, b, m, n, before, after] = part;
        load_scores(a, a + 1, part);
        const int32_t *scores = scores_of(a, part);
        int32_t best = -first_gap(a + 1, b + 1, n) - (before ? second_gap(a + 1, b, 1) : 0);
        int64_t place = 0;
        for (int64_t j = 1; j <= n; ++j) {
            const int32_t here = -first_gap(a, b + 1, j - 1) + scores[j] - first_gap(a + 1, b + j + 1, n - j);
            if (here > best) {
                best = here;
                place = j;
            }
        }
        if (place == 0) {
            runs_.second_only(n);
            runs_.first_only(1);
            return;
        }
        if (place > 1) runs_.second_only(place - 1);
        runs_.both();
        if (place < n) runs_.second_only(n - place);
    }

    /// Compute h_[j], the best score of the first `half` columns of the part with j of the second, and d_[j], the
    /// best that ends with a gap in the second.
    void forward(const Part &part, int64_t half) {
        const auto &[a, b, m, n, before, after] = part;
        h_[0] = 0;
        int32_t edge = -first_open(a, b + 1);
        const int32_t step = first_extend(a, b + 1);
        for (int64_t j = 1; j <= n; ++j) {
            h_[j] = edge -= step;
            d_[j] = edge - second_open(a + 1, b + j);
        }
        edge = before ? -second_open(a + 1, b) : 0;
        const int32_t down = second_extend(a + 1, b);
        for (int64_t i = 1; i <= half; ++i) {
            if ((i - 1) % kRows == 0) {
                if (is_stopped_()) return;
                load_scores(a + i - 1, a + std::min(half, i - 1 + kRows), part);
            }
            edge -= down;
            forward_row(part, i, edge);
        }
        d_[0] = h_[0];
    }

    void forward_row(const Part &part, int64_t i, int32_t edge) {
        const auto &[a, b, m, n, before, after] = part;
        const int32_t *scores = scores_of(a + i - 1, part);
        const bool is_free = is_free_row(a + i);
        const int32_t *open = (is_free ? free_.data() : pair_.second.open.data()) + (is_free ? 0 : b);
        const int32_t *extend = (is_free ? free_.data() : pair_.second.extend.data()) + (is_free ? 0 : b);
        const int32_t *second_open = pair_.second.open.data() + b;
        const int32_t own_open = is_free ? 0 : pair_.first.open[a + i];
        const int32_t gap_open = pair_.first.open[a + i], gap_extend = pair_.first.extend[a + i];
        int32_t diagonal = h_[0], here = edge, across = edge - first_open(a + i, b + 1);
        h_[0] = edge;
        auto cell = [&](int64_t j, int32_t down_open, int32_t down_extend) {
            const int32_t opened = here - open[j] - own_open - extend[j];
            across = std::max(opened, across - extend[j]);
            const int32_t down = std::max(h_[j] - down_open - down_extend, d_[j] - down_extend);
            here = std::max({diagonal + scores[j], across, down});
            diagonal = h_[j];
            h_[j] = here;
            d_[j] = down;
        };
        const int64_t inner = is_free_column(b + n) ? n - 1 : n;
        for (int64_t j = 1; j <= inner; ++j) cell(j, gap_open + second_open[j], gap_extend);
        if (inner < n) cell(n, 0, 0);
    }

    /// Compute r_[j], the best score of the columns after `half` with those after j, and s_[j], the best that
    /// starts with a gap in the second, whose opening costs opens_[j].
    void backward(const Part &part, int64_t half) {
        const auto &[a, b, m, n, before, after] = part;
        r_[n] = 0;
        int32_t edge = 0;
        for (int64_t j = n - 1; j >= 0; --j) {
            edge -= first_extend(a + m, b + j + 1);
            r_[j] = edge - first_open(a + m, b + j + 1);
            opens_[j] = second_open(a + m, b + j);
            s_[j] = r_[j] - opens_[j];
        }
        edge = 0;
        int64_t loaded = m;  // columns from here on are computed
        for (int64_t i = m - 1; i >= half; --i) {
            if (i < loaded) {
                if (is_stopped_()) return;
                loaded = std::max(half, i + 1 - kRows);
                load_scores(a + loaded, a + i + 1, part);
            }
            edge -= second_extend(a + i + 1, b + n);
            backward_row(part, i, edge - (after ? second_open(a + i + 1, b + n) : 0));
        }
        s_[n] = r_[n];
        opens_[n] = second_open(a + half + 1, b + n);
    }

    void backward_row(const Part &part, int64_t i, int32_t edge) {
        const auto &[a, b, m, n, before, after] = part;
        const int32_t *scores = scores_of(a + i, part);
        int32_t diagonal = r_[n], here = edge, opened = first_open(a + i, b + n);
        int32_t across = edge - opened;  // excludes the opening cost, which is paid at the gap's left end
        r_[n] = edge;
        for (int64_t j = n - 1; j >= 0; --j) {
            int32_t open = first_open(a + i, b + j + 1);
            const int32_t extend = first_extend(a + i, b + j + 1);
            across = std::max(here - open - extend, across - extend - open + opened);
            opened = open;
            open = second_open(a + i + 1, b + j);
            const int32_t down_extend = second_extend(a + i + 1, b + j);
            int32_t down = s_[j] - down_extend;
            if (i < m - 1) {
                down += second_open(a + i + 2, b + j) - open;
                opens_[j] = open;
            }
            down = std::max(down, r_[j] - open - down_extend);
            here = std::max({diagonal + scores[j + 1], across, down});
            diagonal = r_[j];
            r_[j] = here;
            s_[j] = down;
        }
    }

    /// Return the column at which the best path crosses the middle, and whether that is within a gap in the second
    /// profile.
    std::pair<int64_t, bool> best_middle(int64_t n) const {
        int32_t best = h_[0] + r_[0];
        int64_t middle = 0;
        bool is_gap = false;
        for (int64_t j = 0; j <= n; ++j) {
            const int32_t here = h_[j] + r_[j];
            if (here > best || (here == best && h_[j] != d_[j] && r_[j] == s_[j])) {
                best = here;
                middle = j;
            }
        }
        for (int64_t j = n; j >= 0; --j) {
            const int32_t here = d_[j] + s_[j] + opens_[j];
            if (here > best) {
                best = here;
                middle = j;
                is_gap = true;
            }
        }
        return {middle, is_gap};
    }

    const ProfilePair &pair_;
    const std::function<bool()> &is_stopped_;
    const ProfileKernels &kernels_;
    std::vector<int32_t> free_;                   // zeros
    std::vector<int32_t> h_, d_, r_, s_, opens_;  // by column of the part
    std::vector<int32_t> scores_;
    int64_t stride_ = 0, first_row_ = 0;
    const std::vector<int32_t> first_sums_, second_sums_;
    Runs runs_;
};

}  // namespace

std::vector<MergeStep> align_by_halves(const ProfilePair &pair, const std::function<bool()> &is_stopped) {
    return Halver(pair, is_stopped).run();
}

}  // namespace tropalign
