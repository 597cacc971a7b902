// Targets aligned to a model in the logarithms of odds, in HMMER's order of operations and with its table of log
// sums.
#include <algorithm>
#include <array>
#include <cfloat>
#include <cmath>
#include <limits>
#include <vector>

#include "../compute/parallel.hpp"
#include "../simd/denormals.hpp"
#include "target_alignment.hpp"

namespace tropalign {
namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();

/// log(exp(a) + exp(b)), from a table of log(1 + exp(-d)) for d in steps of 1/1000.
class LogSum {
  public:
    LogSum() {
        for (size_t k = 0; k < table_.size(); ++k)
            table_[k] =
                static_cast<float>(std::log(1.0 + std::exp(static_cast<double>(-static_cast<float>(k)) / kSteps)));
    }
    float operator()(float a, float b) const {
        const float high = std::max(a, b), low = std::min(a, b);
        if (low == kNever || high - low >= 15.7f) return high;
        return high + table_[static_cast<size_t>((high - low) * kSteps)];
    }

  private:
    static constexpr float kSteps = 1000.0f;
    std::array<float, 16000> table_;
};

const LogSum &log_sum() {
    static const LogSum made;
    return made;
}

/// M, I and D of all nodes per row, starting with a node 0, and the special states.
struct LogMatrix {
    enum State { M, I, D, kStates };
    enum Special { N, B, E, C, kLogSpecials };

    LogMatrix(int32_t n_nodes, int32_t L)
        : width((static_cast<size_t>(n_nodes) + 1) * kStates), cells(width * (static_cast<size_t>(L) + 1), kNever),
          specials((static_cast<size_t>(L) + 1) * kLogSpecials, kNever) {}

    float &operator()(int32_t i, int32_t k, State s) { return cells[i * width + static_cast<size_t>(k) * kStates + s]; }
    float &operator()(int32_t i, Special s) { return specials[static_cast<size_t>(i) * kLogSpecials + s]; }

    size_t width;
    std::vector<float> cells, specials;
};
using enum LogMatrix::State;
using enum LogMatrix::Special;

/// Alignment of one target.
class LogAlignment {
  public:
    LogAlignment(const ProfileScores &scores, const uint8_t *codes, int32_t L)
        : scores_(scores), codes_(codes), L_(L),
          n_nodes_(static_cast<int32_t>(scores.transitions.size() / kTransitions) - 1), forward_(n_nodes_, L),
          backward_(n_nodes_, L) {
        const float p = 2.0f / (static_cast<float>(L) + 2.0f);
        move_ = std::log(p), loop_ = std::log(1.0f - p);
    }

    void run(const ResiduePlaces &out) {
        fill_forward();
        if (forward_(L_, C) == kNever) {  // the model emits none of the residues
            std::fill_n(out.places, L_, 0), std::fill_n(out.posteriors, L_, 0.0f);
            return;
        }
        fill_backward();
        decode();
        accumulate();
        trace(out);
    }

  private:
    float step(Transition t, int32_t k) const {
        return scores_.transitions[t * (static_cast<size_t>(n_nodes_) + 1) + k];
    }
    float match(int32_t i, int32_t k) const {
        return scores_.match[codes_[i - 1] * (static_cast<size_t>(n_nodes_) + 1) + k];
    }
    /// Return the score of an insert: 0, or minus infinity for a non-residue.
    float insert(int32_t i) const {
        const int code = codes_[i - 1];
        return code == scores_.n_residues || code >= scores_.n_codes - 2 ? kNever : 0;
    }

    void fill_forward() {
        auto &F = forward_;
        F(0, N) = 0, F(0, B) = move_;
        for (int32_t i = 1; i <= L_; ++i) {
            const float in_insert = insert(i);
            for (int32_t k = 1; k <= n_nodes_; ++k) {
                const float from = sum_(sum_(F(i - 1, k - 1, M) + step(kMM, k), F(i - 1, k - 1, I) + step(kIM, k)),
                                        sum_(F(i - 1, B) + step(kBM, k), F(i - 1, k - 1, D) + step(kDM, k)));
                F(i, k, M) = from + match(i, k);
                if (k < n_nodes_)
                    F(i, k, I) = sum_(F(i - 1, k, M) + step(kMI, k), F(i - 1, k, I) + step(kII, k)) + in_insert;
                F(i, k, D) =
                    k == 1 ? kNever : sum_(F(i, k - 1, M) + step(kMD, k - 1), F(i, k - 1, D) + step(kDD, k - 1));
                F(i, E) = sum_(sum_(F(i, k, M), F(i, k, D)), F(i, E));
            }
            F(i, C) = sum_(F(i - 1, C) + loop_, F(i, E));
            F(i, N) = F(i - 1, N) + loop_;
            F(i, B) = F(i, N) + move_;
        }
    }

    void fill_backward() {
        auto &R = backward_;
        R(L_, C) = R(L_, E) = move_;
        for (int32_t k = n_nodes_; k >= 1; --k) {
            R(L_, k, M) = k == n_nodes_ ? R(L_, E) : sum_(R(L_, E), R(L_, k + 1, D) + step(kMD, k));
            R(L_, k, D) = k == n_nodes_ ? R(L_, E) : sum_(R(L_, E), R(L_, k + 1, D) + step(kDD, k));
        }
        for (int32_t i = L_ - 1; i >= 1; --i) {
            R(i, B) = R(i + 1, 1, M) + step(kBM, 1) + match(i + 1, 1);
            for (int32_t k = 2; k <= n_nodes_; ++k)
                R(i, B) = sum_(R(i, B), R(i + 1, k, M) + step(kBM, k) + match(i + 1, k));
            R(i, C) = R(i + 1, C) + loop_;
            R(i, E) = R(i, C);
            R(i, N) = sum_(R(i + 1, N) + loop_, R(i, B) + move_);
            R(i, n_nodes_, M) = R(i, n_nodes_, D) = R(i, E);
            const float in_insert = insert(i + 1);
            for (int32_t k = n_nodes_ - 1; k >= 1; --k) {
                const float M_next = R(i + 1, k + 1, M), I_next = R(i + 1, k, I), odds = match(i + 1, k + 1);
                R(i, k, M) = sum_(sum_(M_next + step(kMM, k + 1) + odds, I_next + step(kMI, k) + in_insert),
                                  sum_(R(i, E), R(i, k + 1, D) + step(kMD, k)));
                R(i, k, I) = sum_(M_next + step(kIM, k + 1) + odds, I_next + step(kII, k) + in_insert);
                R(i, k, D) = sum_(M_next + step(kDM, k + 1) + odds, sum_(R(i, k + 1, D) + step(kDD, k), R(i, E)));
            }
        }
    }

    /// Replace Backward's numbers by posteriors, normalised to a sum of 1 per row: the sum of the logarithms is
    /// off by thousandths.
    void decode() {
        auto &F = forward_, &P = backward_;
        const float total = F(L_, C) + move_;
        for (int32_t i = 1; i <= L_; ++i) {
            float sum = 0;
            for (int32_t k = 1; k <= n_nodes_; ++k)
                for (const LogMatrix::State s : {M, I}) {
                    if (s == I && k == n_nodes_) continue;
                    P(i, k, s) = std::exp(F(i, k, s) + P(i, k, s) - total);
                    sum += P(i, k, s);
                }
            P(i, n_nodes_, I) = 0;
            for (const LogMatrix::Special s : {N, C}) P(i, s) = std::exp(F(i - 1, s) + P(i, s) + loop_ - total);
            sum += P(i, N) + 0.0f + P(i, C);
            const auto factor = static_cast<float>(1.0 / static_cast<double>(sum));
            for (int32_t k = 1; k <= n_nodes_; ++k) P(i, k, M) *= factor, P(i, k, I) *= factor;
            P(i, N) *= factor, P(i, C) *= factor;
        }
    }

    /// Return a tiny number for an impossible step, since 0 times minus infinity is NaN.
    float possible(Transition t, int32_t k) const { return step(t, k) == kNever ? FLT_MIN : 1.0f; }

    /// Replace Forward's numbers by sums of posteriors along the best paths.
    void accumulate() {
        auto &A = forward_, &P = backward_;
        std::fill(A.cells.begin(), A.cells.end(), kNever);
        std::fill(A.specials.begin(), A.specials.end(), kNever);
        A(0, N) = A(0, B) = 0;
        for (int32_t i = 1; i <= L_; ++i) {
            for (int32_t k = 1; k <= n_nodes_; ++k) {
                const float own = P(i, k, M), own_I = P(i, k, I);
                A(i, k, M) = std::max(
                    std::max(possible(kMM, k) * (A(i - 1, k - 1, M) + own),
                             possible(kIM, k) * (A(i - 1, k - 1, I) + own)),
                    std::max(possible(kDM, k) * (A(i - 1, k - 1, D) + own), possible(kBM, k) * (A(i - 1, B) + own)));
                A(i, E) = std::max(A(i, E), A(i, k, M));
                if (k < n_nodes_)
                    A(i, k, I) = std::max(possible(kMI, k) * (A(i - 1, k, M) + own_I),
                                          possible(kII, k) * (A(i - 1, k, I) + own_I));
                if (k > 1)
                    A(i, k, D) = std::max(possible(kMD, k - 1) * A(i, k - 1, M), possible(kDD, k - 1) * A(i, k - 1, D));
            }
            A(i, E) = std::max(A(i, E), A(i, n_nodes_, D));
            A(i, C) = std::max(A(i - 1, C) + P(i, C), A(i, E));
            A(i, N) = A(i, B) = A(i - 1, N) + P(i, N);
        }
    }

    /// Trace back from C. At ties: E before C, the last M of the largest, a D only if it is larger, then M, I, D,
    /// B. HMMER weights I -> M by whether M -> M is possible.
    void trace(const ResiduePlaces &out) {
        auto &A = forward_, &P = backward_;
        const auto put = [&](int32_t i, int32_t place, float posterior) {
            out.places[i - 1] = place, out.posteriors[i - 1] = posterior;
        };
        int32_t i = L_;
        for (; i > 1 && A(i - 1, C) + P(i, C) > A(i, E); --i) put(i, -n_nodes_, P(i, C));
        auto [k, state] = end_of(i);
        while (i >= 1 && k >= 1 && state != 'B') {
            if (state == 'M') {
                put(i, k, P(i, k, M));
                state = before_match(i, k);
                --i, --k;
            } else if (state == 'I') {
                put(i, -k, P(i, k, I));
                const float from_M = possible(kMI, k) * A(i - 1, k, M), from_I = possible(kII, k) * A(i - 1, k, I);
                state = from_M >= from_I ? 'M' : 'I';
                --i;
            } else {
                const float from_M = possible(kMD, k - 1) * A(i, k - 1, M);
                state = from_M >= possible(kDD, k - 1) * A(i, k - 1, D) ? 'M' : 'D';
                --k;
            }
        }
        for (; i >= 1; --i) put(i, 0, P(i, N));
    }

    struct End {
        int32_t k;
        char state;
    };
    End end_of(int32_t i) {
        auto &A = forward_;
        float best = kNever;
        End end{0, 'B'};
        for (int32_t k = 1; k <= n_nodes_; ++k) {
            if (A(i, k, M) >= best) best = A(i, k, M), end = {k, 'M'};
            if (A(i, k, D) > best) best = A(i, k, D), end = {k, 'D'};
        }
        return end;
    }

    char before_match(int32_t i, int32_t k) {
        auto &A = forward_;
        const std::array<float, 4> ways{possible(kMM, k) * A(i - 1, k - 1, M), possible(kMM, k) * A(i - 1, k - 1, I),
                                        possible(kDM, k) * A(i - 1, k - 1, D), possible(kBM, k) * A(i - 1, B)};
        return "MIDB"[std::max_element(ways.begin(), ways.end()) - ways.begin()];
    }

    const ProfileScores &scores_;
    const uint8_t *const codes_;
    const int32_t L_, n_nodes_;
    float move_, loop_;
    LogMatrix forward_, backward_;
    const LogSum &sum_ = log_sum();
};

}  // namespace

bool align_targets_in_logs(const ProfileScores &scores, const TargetBlock &block, Targets targets, int n_threads,
                           const ResiduePlaces &out, const Poll &poll) {
    const auto work = [&](int, int64_t item) {
        const DenormalsKept guard;
        const int32_t target = targets[static_cast<size_t>(item)];
        const ptrdiff_t at = block.codes(target) - block.codes(0);
        LogAlignment(scores, block.codes(target), block.length(target)).run({out.places + at, out.posteriors + at});
    };
    return parallel(n_threads, static_cast<int64_t>(targets.size()), 1, work, poll);
}

}  // namespace tropalign
