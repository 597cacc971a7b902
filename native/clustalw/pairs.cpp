#include "pairs.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "../compute/parallel.hpp"

namespace tropalign {

namespace {

/// Aligns pairs one after another. Names follow Myers and Miller 1988: CC and DD are the best scores of paths into a
/// cell, and of paths that end in a gap along the columns; RR and SS are the same scores from the other end.
class PairAligner {
  public:
    explicit PairAligner(const ClustalwScoring &scoring) : scoring_(scoring) {}

    /// Return the number of identical columns of the alignment of a and b.
    int32_t identities(Residues a, Residues b) {
        a_ = a, b_ = b;
        open_ = scoring_.gap_open[std::min(a.length, b.length)];
        extend_ = scoring_.gap_extend;
        const size_t size = static_cast<size_t>(b.length) + 1;
        if (CC_.size() < size)
            for (auto *row : {&CC_, &DD_, &RR_, &SS_}) row->resize(size + size / 4);
        count_ = 0;
        const Cell end = best_end();
        const Cell begin = begin_of(end);
        divide({begin.i - 1, begin.j - 1, end.i - begin.i + 1, end.j - begin.j + 1, 0, 0});
        return count_;
    }

  private:
    struct Cell {
        int32_t i, j, score;
    };

    const int32_t *scores_of(int32_t i) const { return scoring_.matrix + a_[i] * kClustalwCodes; }

    /// Return the first cell, row by row, with the highest local score; (0, 0) if none is positive.
    Cell best_end() {
        Cell best{0, 0, 0};
        const int32_t m = b_.length, first = open_ + extend_, extend = extend_;
        int32_t *H = CC_.data(), *D = DD_.data();
        std::fill_n(H, m + 1, 0);
        std::fill_n(D, m + 1, -open_);
        for (int32_t i = 1; i <= a_.length; ++i) {
            const int32_t *scores = scores_of(i);
            int32_t left = 0, diagonal = 0, gap = -open_;
            for (int32_t j = 1; j <= m; ++j) {
                gap = std::max(gap - extend, left - first);
                const int32_t down = std::max(D[j] - extend, H[j] - first);
                D[j] = down;
                left = std::max(std::max(diagonal + scores[b_[j]], down), std::max(gap, 0));
                diagonal = H[j];
                H[j] = left;
                if (left > best.score) best = {i, j, left};
            }
        }
        return best;
    }

    /// Return the start of the alignment that ends at `end`: the same recurrence backwards, until the score is
    /// reached.
    ///
    /// Cells outside are -1 here, not minus infinity. So a path may start anywhere on the border, a point lower, and it
    /// is taken if it reaches the score first.
    Cell begin_of(const Cell &end) {
        Cell best{1, 1, 0};
        const int32_t first = open_ + extend_, extend = extend_;
        int32_t *H = CC_.data(), *D = DD_.data();
        std::fill_n(H, end.j + 1, -1);
        std::fill_n(D, end.j + 1, -1);
        for (int32_t i = end.i; i > 0; --i) {
            const int32_t *scores = scores_of(i);
            int32_t left = -1, gap = -1, diagonal = i == end.i ? 0 : -1;
            for (int32_t j = end.j; j > 0; --j) {
                gap = std::max(gap - extend, left - first);
                const int32_t down = std::max(D[j] - extend, H[j] - first);
                D[j] = down;
                left = std::max(std::max(diagonal + scores[b_[j]], down), gap);
                diagonal = H[j];
                H[j] = left;
                if (left <= best.score) continue;
                best = {i, j, left};
                if (left >= end.score) return best;
            }
        }
        return best;
    }

    /// `rows` residues of a after the i-th and `columns` of b after the j-th, with the costs of opening a gap that
    /// touches the start or the end of these rows: 0 if the rows beyond continue the same gap.
    struct Segment {
        int32_t i, j, rows, columns, open_begin, open_end;
    };

    int32_t border(int32_t length, int32_t open) const { return length <= 0 ? 0 : open + extend_ * length; }

    void divide(const Segment &s) {
        if (s.columns <= 0 || s.rows <= 0) return;
        if (s.rows == 1) return single_row(s);
        const int32_t middle = s.rows / 2;
        sweep_down(s, middle);
        sweep_up(s, middle);
        int32_t best = CC_[0] + RR_[0], at = 0;
        bool in_gap = false;
        // Among equally good columns, a later one is taken only if the path into it does not end in a gap and the
        // path from it starts with one; a column within a gap only if it is better.
        for (int32_t j = 0; j <= s.columns; ++j) {
            const int32_t score = CC_[j] + RR_[j];
            if (score > best || (score == best && CC_[j] != DD_[j] && RR_[j] == SS_[j])) best = score, at = j;
        }
        for (int32_t j = s.columns; j >= 0; --j) {
            const int32_t score = DD_[j] + SS_[j] + open_;
            if (score > best) best = score, at = j, in_gap = true;
        }
        if (in_gap) {
            divide({s.i, s.j, middle - 1, at, s.open_begin, 0});
            divide({s.i + middle + 1, s.j + at, s.rows - middle - 1, s.columns - at, 0, s.open_end});
        } else {
            divide({s.i, s.j, middle, at, s.open_begin, open_});
            divide({s.i + middle, s.j + at, s.rows - middle, s.columns - at, open_, s.open_end});
        }
    }

    /// Align the one residue with a column, or with a gap. Gaps along the columns cost the same as one at that end
    /// of the rows.
    void single_row(const Segment &s) {
        int32_t best = -(s.open_begin + extend_) - border(s.columns, s.open_end), at = 0;
        best = std::max(best, -(s.open_end + extend_) - border(s.columns, s.open_begin));
        const int32_t *scores = scores_of(s.i + 1);
        for (int32_t j = 1; j <= s.columns; ++j) {
            const int32_t score = scores[b_[s.j + j]] - border(s.columns - j, s.open_end) - border(j - 1, s.open_begin);
            if (score > best) best = score, at = j;
        }
        count_ += at && a_[s.i + 1] == b_[s.j + at];
    }

    /// Compute CC and DD of the middle row. A gap along the first row also costs open_begin.
    void sweep_down(const Segment &s, int32_t middle) {
        const int32_t first = open_ + extend_, extend = extend_, n = s.columns;
        int32_t *H = CC_.data(), *D = DD_.data(), edge = -s.open_begin;
        H[0] = 0;
        for (int32_t j = 1; j <= n; ++j) {
            H[j] = edge -= extend;
            D[j] = edge - open_;
        }
        edge = -s.open_begin;
        for (int32_t i = 1; i <= middle; ++i) {
            const int32_t *scores = scores_of(s.i + i);
            int32_t diagonal = H[0];
            edge -= extend;
            int32_t left = H[0] = edge, gap = edge - open_;
            for (int32_t j = 1; j <= n; ++j) {
                gap = std::max(gap - extend, left - first);
                const int32_t down = std::max(D[j] - extend, H[j] - first);
                left = std::max(std::max(diagonal + scores[b_[s.j + j]], down), gap);
                diagonal = H[j];
                H[j] = left;
                D[j] = down;
            }
        }
        D[0] = H[0];
    }

    /// Compute RR and SS of the middle row, from the other end.
    void sweep_up(const Segment &s, int32_t middle) {
        const int32_t first = open_ + extend_, extend = extend_, n = s.columns;
        int32_t *H = RR_.data(), *D = SS_.data(), edge = -s.open_end;
        H[n] = 0;
        for (int32_t j = n - 1; j >= 0; --j) {
            H[j] = edge -= extend;
            D[j] = edge - open_;
        }
        edge = -s.open_end;
        for (int32_t i = s.rows - 1; i >= middle; --i) {
            const int32_t *scores = scores_of(s.i + i + 1);
            int32_t diagonal = H[n];
            edge -= extend;
            int32_t left = H[n] = edge, gap = edge - open_;
            for (int32_t j = n - 1; j >= 0; --j) {
                gap = std::max(gap - extend, left - first);
                const int32_t down = std::max(D[j] - extend, H[j] - first);
                left = std::max(std::max(diagonal + scores[b_[s.j + j + 1]], down), gap);
                diagonal = H[j];
                H[j] = left;
                D[j] = down;
            }
        }
        D[n] = H[n];
    }

    const ClustalwScoring &scoring_;
    Residues a_{}, b_{};
    int32_t open_ = 0, extend_ = 0, count_ = 0;
    std::vector<int32_t> CC_, DD_, RR_, SS_;
};

/// Return the row and column of a pair.
std::pair<int64_t, int64_t> pair_of(int64_t n, int64_t pair) {
    int64_t low = 0, high = n - 1;  // the row is in [low, high)
    while (high - low > 1) {
        const int64_t middle = (low + high) / 2;
        (pair_row_begin(n, middle) + middle + 1 <= pair ? low : high) = middle;
    }
    return {low, pair - pair_row_begin(n, low)};
}

}  // namespace

bool clustalw_identities(const ClustalwSequences &sequences, const ClustalwScoring &scoring, int n_threads,
                         int32_t *identities, const Poll &poll) {
    std::vector<PairAligner> aligners(n_threads, PairAligner(scoring));
    return parallel(
        n_threads, sequences.n_pairs(), 1,
        [&](int thread, int64_t pair) {
            const auto [i, j] = pair_of(sequences.n, pair);
            identities[pair] = aligners[thread].identities(sequences[i], sequences[j]);
        },
        poll);
}

}  // namespace tropalign
