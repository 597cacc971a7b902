#include "posteriors.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "../compute/parallel.hpp"
#include "sparse.hpp"

namespace tropalign {
namespace {

/// What is kept of a pair.
struct PairResult {
    float distance = 0;
    std::vector<uint16_t> row_sizes, columns, values;
};

/// A pair in plain loops and double precision; each row is scaled so that its largest value is near 1.
class PlainPair {
  public:
    PlainPair(const PosteriorModel &model, const uint8_t *x, int m, const uint8_t *y, int n)
        : model_(model), x_(x), y_(y), m_(m), n_(n), width_(n + 2), hmm_((m + 2) * width_), part_((m + 2) * width_),
          p_(hmm_.size()) {}

    PairResult run(const PosteriorRequest &request) {
        hmm();
        partition();
        const double s = model_.hmm_share;
        for (size_t c = 0; c < p_.size(); ++c)
            p_[c] = std::min(1.0, std::sqrt(s * hmm_[c] * hmm_[c] + (1 - s) * part_[c] * part_[c]));
        PairResult result;
        result.distance = static_cast<float>(1 - best_accuracy() / std::min(m_, n_));
        const int lowest = request.keep > 0 ? lowest_kept(request.keep)
                                            : static_cast<int>(std::ceil(double{request.cutoff} * kPosteriorOne));
        for (int i = 1; i <= m_; ++i) {
            const size_t before = result.columns.size();
            for (int j = 1; j <= n_; ++j) {
                const int value = fixed(i, j);
                if (value < std::max(lowest, 1)) continue;
                result.columns.push_back(static_cast<uint16_t>(j - 1));
                result.values.push_back(static_cast<uint16_t>(value));
            }
            result.row_sizes.push_back(static_cast<uint16_t>(result.columns.size() - before));
        }
        return result;
    }

  private:
    size_t at(int i, int j) const { return static_cast<size_t>(i) * width_ + j; }
    int fixed(int i, int j) const { return static_cast<int>(std::lround(p_[at(i, j)] * kPosteriorOne)); }

    static int scale_of(const std::vector<double> &row, double M) {
        double highest = M;
        for (const double v : row) highest = std::max(highest, v);
        return highest > 0 ? -std::ilogb(highest) : 0;
    }

    void hmm() {
        const auto &mod = model_;
        const double e1 = mod.extend[0], e2 = mod.extend[1], a1 = mod.add[0], a2 = mod.add[1];
        std::vector<double> S(width_), X1(width_), X2(width_), T(width_);
        std::vector<int> exponent(m_ + 2);
        double Y1 = mod.start_insert[0], Y2 = mod.start_insert[1];
        S[0] = mod.start_match;
        for (int j = 1; j <= n_; ++j, Y1 *= e1, Y2 *= e2) S[j] = a1 * Y1 + a2 * Y2;
        X1[0] = mod.start_insert[0], X2[0] = mod.start_insert[1];
        double total = 0;
        for (int i = 1; i <= m_; ++i) {
            Y1 = Y2 = 0;
            T[0] = a1 * X1[0] + a2 * X2[0];
            const double last_x1 = X1[n_], last_x2 = X2[n_];
            X1[0] *= e1, X2[0] *= e2;
            double last_y1 = 0, last_y2 = 0;
            for (int j = 1; j <= n_; ++j) {
                const double M = mod.odds[x_[i - 1]][y_[j - 1]] * S[j - 1];
                hmm_[at(i, j)] = M;
                T[j] = M + a1 * (X1[j] + Y1) + a2 * (X2[j] + Y2);
                last_y1 = Y1, last_y2 = Y2;
                X1[j] = M + e1 * X1[j], X2[j] = M + e2 * X2[j];
                Y1 = M + e1 * Y1, Y2 = M + e2 * Y2;
            }
            std::swap(S, T);
            if (i == m_)
                total = mod.end_match * hmm_[at(m_, n_)] + mod.end_insert[0] * (last_x1 + last_y1) +
                        mod.end_insert[1] * (last_x2 + last_y2);
            exponent[i] = scale_of(S, 0);
            for (auto *row : {&S, &X1, &X2})
                for (double &v : *row) v = std::ldexp(v, exponent[i]);
        }
        // The mirror: B is what follows a match at (i, j); G = odds B.
        std::vector<double> G(width_ + 1), B1(width_ + 1), B2(width_ + 1);
        for (int i = m_; i >= 1; --i) {
            double C1 = 0, C2 = 0, right = 0;
            if (i < m_)
                for (auto *row : {&G, &B1, &B2})
                    for (double &v : *row) v = std::ldexp(v, exponent[i]);
            for (int j = n_; j >= 1; --j) {
                double B = right + a1 * (B1[j] + C1) + a2 * (B2[j] + C2);
                double next1 = right + e1 * B1[j], next2 = right + e2 * B2[j];
                double left1 = right + e1 * C1, left2 = right + e2 * C2;
                if (i == m_ && j == n_) {
                    B = mod.end_match / total;
                    next1 = left1 = mod.end_insert[0] / a1 / total, next2 = left2 = mod.end_insert[1] / a2 / total;
                }
                right = G[j];
                G[j] = mod.odds[x_[i - 1]][y_[j - 1]] * B;
                B1[j] = next1, B2[j] = next2, C1 = left1, C2 = left2;
                hmm_[at(i, j)] *= B;
            }
        }
    }

    void partition() {
        const auto &mod = model_;
        const double open = mod.gap_open, extend = mod.gap_extend;
        std::vector<double> S(width_, 1.0), F(width_), T(width_);
        std::vector<int> exponent(m_ + 2), level(m_ + 2);
        int scale = 0;  // the rows so far are multiplied by 2^scale
        double total = 0;
        for (int i = 1; i <= m_; ++i) {
            double E = 0;
            level[i] = scale;
            T[0] = std::ldexp(1.0, scale);
            for (int j = 1; j <= n_; ++j) {
                const double M = mod.boltzmann[x_[i - 1]][y_[j - 1]] * S[j - 1];
                part_[at(i, j)] = M;
                T[j] = M + open * (F[j] + E);
                F[j] = M + extend * F[j];
                E = M + extend * E;
                if (i == m_ || j == n_) total += M;
            }
            std::swap(S, T);
            exponent[i] = scale_of(S, total);
            scale += exponent[i];
            for (auto *row : {&S, &F})
                for (double &v : *row) v = std::ldexp(v, exponent[i]);
            total = std::ldexp(total, exponent[i]);
        }
        std::vector<double> G(width_ + 1), H(width_ + 1);
        // total is in the scale after row m: 2^scale.
        for (int i = m_; i >= 1; --i) {
            double C = 0, right = 0;
            for (auto *row : {&G, &H})
                for (double &v : *row) v = i < m_ ? std::ldexp(v, exponent[i]) : 0;
            const double end = std::ldexp(1.0, scale - level[i]) / total;
            for (int j = n_; j >= 1; --j) {
                double B = right + open * (H[j] + C);
                if (i == m_ || j == n_) B = end;
                const double up = i == m_ ? 0 : right + extend * H[j], left = i == m_ ? 0 : right + extend * C;
                right = G[j];
                G[j] = mod.boltzmann[x_[i - 1]][y_[j - 1]] * B;
                H[j] = j == n_ ? 0 : up, C = j == n_ ? 0 : left;
                part_[at(i, j)] *= B;
            }
        }
    }

    double best_accuracy() const {
        std::vector<double> above(width_), row(width_);
        for (int i = 1; i <= m_; ++i) {
            for (int j = 1; j <= n_; ++j) row[j] = std::max({above[j - 1] + p_[at(i, j)], above[j], row[j - 1]});
            std::swap(above, row);
        }
        return above[n_];
    }

    int lowest_kept(double share) const {
        std::vector<int64_t> count(kPosteriorOne + 2);
        for (int i = 1; i <= m_; ++i)
            for (int j = 1; j <= n_; ++j) ++count[fixed(i, j)];
        auto left = static_cast<int64_t>(share * m_ * n_);
        int lowest = kPosteriorOne + 1;
        while (lowest > 1 && left - count[lowest - 1] >= 0) left -= count[--lowest];
        return lowest;
    }

    const PosteriorModel &model_;
    const uint8_t *x_, *y_;
    const int m_, n_;
    const size_t width_;
    std::vector<double> hmm_, part_, p_;
};

}  // namespace

bool pair_posteriors(const PosteriorModel &model, const PosteriorRequest &request, const Poll &poll,
                     PosteriorColumns &out) {
    std::vector<PairResult> results(request.n_pairs);
    auto work = [&](int, int64_t k) {
        const int32_t x = request.pairs[2 * k], y = request.pairs[2 * k + 1];
        const int64_t *offsets = request.offsets;
        results[k] = PlainPair(model, request.codes + offsets[x], static_cast<int>(offsets[x + 1] - offsets[x]),
                               request.codes + offsets[y], static_cast<int>(offsets[y + 1] - offsets[y]))
                         .run(request);
    };
    if (!parallel(request.n_threads, request.n_pairs, 1, work, poll)) return false;
    for (const PairResult &r : results) {
        out.distance.push_back(r.distance);
        out.row_sizes.insert(out.row_sizes.end(), r.row_sizes.begin(), r.row_sizes.end());
        out.columns.insert(out.columns.end(), r.columns.begin(), r.columns.end());
        out.values.insert(out.values.end(), r.values.begin(), r.values.end());
    }
    return true;
}

}  // namespace tropalign
