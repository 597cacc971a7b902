// Sums with a power of two per number, if one per position does not suffice (recurrences in sums.hpp).
#include <algorithm>
#include <bit>
#include <cmath>

#include "sums.hpp"

namespace tropalign {
namespace {

/// Positions whose forward sums are kept at a time.
constexpr int64_t kStretch = 256;
/// The power of the number 0, so low that no sum with it comes near the powers of other numbers.
constexpr int64_t kNoPower = -(int64_t{1} << 60);
constexpr double kLog2High = 0x1.62e42fefa0000p-1, kLog2Low = 0x1.cf79abc9e3b3ap-40;

/// value * 2^power, value from 1/2 to 1, or 0.
struct Wide {
    double value = 0;
    int64_t power = kNoPower;
};

Wide wide(double value, int64_t power = 0) {
    if (value == 0) return {};
    int more = 0;
    const double fraction = std::frexp(value, &more);
    return {fraction, power + more};
}

Wide from_log(double log) {
    if (log == -INFINITY) return {};
    const double power = std::floor(log / (kLog2High + kLog2Low));
    return wide(std::exp((log - power * kLog2High) - power * kLog2Low), static_cast<int64_t>(power));
}

Wide operator*(Wide a, Wide b) {
    const double value = a.value * b.value;  // from 1/4 to 1, or 0
    if (value == 0) return {};
    return value < 0.5 ? Wide{2 * value, a.power + b.power - 1} : Wide{value, a.power + b.power};
}

/// Return 2^power, and 0 if it is negligible compared with 1.
double lower(int64_t power) {
    return power < -1000 ? 0.0 : std::bit_cast<double>(static_cast<uint64_t>(power + 1023) << 52);
}

/// Return the sum of `count` terms, in their order.
template <class Term>
Wide sum_of(int32_t count, Term term) {
    int64_t highest = kNoPower;
    for (int32_t k = 0; k < count; ++k) {
        const Wide found = term(k);
        if (found.value != 0) highest = std::max(highest, found.power);
    }
    if (highest == kNoPower) return {};
    double total = 0;
    for (int32_t k = 0; k < count; ++k) {
        const Wide found = term(k);
        if (found.value != 0) total += found.value * lower(found.power - highest);
    }
    return wide(total, highest);
}

class WideSums {
  public:
    WideSums(const HmmModel &model, const Observations &seen, int64_t begin, int64_t end, SumRun &run)
        : model_(model), seen_(seen), run_(run), begin_(begin), end_(end), n_(model.n_states) {
        for (double p : model.transition) transition_.push_back(wide(p));
    }

    /// Return the sum of all paths; keep the sums before each stretch.
    Wide forward() {
        std::vector<Wide> now;
        for (int64_t t = begin_; t < end_; ++t) {
            run_.check();
            now = next(t, now);
            if ((t - begin_) % kStretch == 0) kept_.push_back(now);
        }
        return total(now);
    }

    double log_of(Wide value) const {
        const auto power = static_cast<double>(value.power);
        return value.value == 0 ? -INFINITY : (std::log(value.value) + power * kLog2Low) + power * kLog2High;
    }

    void backward(const PosteriorSink *sink, HmmCounts *counts) {
        std::vector<Wide> beta(static_cast<size_t>(n_), wide(1));
        const auto padded = static_cast<size_t>(model_.padded);
        for (int64_t k = static_cast<int64_t>(kept_.size()) - 1; k >= 0; --k) {
            run_.check();
            const int64_t first = begin_ + k * kStretch, last = std::min(first + kStretch, end_);
            std::vector<std::vector<Wide>> alphas{kept_[static_cast<size_t>(k)]};
            for (int64_t t = first + 1; t < last; ++t) alphas.push_back(next(t, alphas.back()));
            std::vector<double> rows(static_cast<size_t>(last - first) * padded);
            for (int64_t t = last - 1; t >= first; --t) {
                const std::vector<Wide> &alpha = alphas[static_cast<size_t>(t - first)];
                double *row = rows.data() + static_cast<size_t>(t - first) * padded;
                if (t + 1 < end_) {
                    const std::vector<Wide> arriving = arrive(t + 1, beta);
                    beta = leave(arriving);
                    if (counts) count_steps(alpha, arriving, beta, *counts);
                }
                posterior(alpha, beta, row);
                if (counts) count(t, row, *counts);
            }
            if (sink) sink->take(first, last - first, rows.data());
        }
    }

  private:
    const Wide &step(int32_t i, int32_t j) const {
        return transition_[static_cast<size_t>(i) * static_cast<size_t>(n_) + static_cast<size_t>(j)];
    }

    Wide emission(int64_t t, int32_t s) const {
        if (!seen_.codes) return from_log(seen_.frames[t * n_ + s]);
        return wide(model_.by_symbol[size_t{seen_.codes[t]} * static_cast<size_t>(n_) + static_cast<size_t>(s)]);
    }

    Wide total(const std::vector<Wide> &sums) const {
        return sum_of(n_, [&](int32_t s) { return sums[static_cast<size_t>(s)]; });
    }

    std::vector<Wide> next(int64_t t, const std::vector<Wide> &before) const {
        std::vector<Wide> made;
        for (int32_t j = 0; j < n_; ++j) {
            const auto k = static_cast<size_t>(j);
            const Wide sum = t == begin_
                                 ? wide(model_.start[k])
                                 : sum_of(n_, [&](int32_t i) { return before[static_cast<size_t>(i)] * step(i, j); });
            made.push_back(sum * emission(t, j));
        }
        return made;
    }

    std::vector<Wide> arrive(int64_t t, const std::vector<Wide> &beta) const {
        std::vector<Wide> made;
        for (int32_t j = 0; j < n_; ++j) made.push_back(emission(t, j) * beta[static_cast<size_t>(j)]);
        return made;
    }

    std::vector<Wide> leave(const std::vector<Wide> &arriving) const {
        std::vector<Wide> made;
        for (int32_t i = 0; i < n_; ++i)
            made.push_back(sum_of(n_, [&](int32_t j) { return step(i, j) * arriving[static_cast<size_t>(j)]; }));
        return made;
    }

    Wide all_paths(const std::vector<Wide> &alpha, const std::vector<Wide> &beta) const {
        return sum_of(n_, [&](int32_t s) { return alpha[static_cast<size_t>(s)] * beta[static_cast<size_t>(s)]; });
    }

    void posterior(const std::vector<Wide> &alpha, const std::vector<Wide> &beta, double *row) const {
        const Wide all = all_paths(alpha, beta);
        for (int32_t s = 0; s < n_; ++s) {
            const Wide both = alpha[static_cast<size_t>(s)] * beta[static_cast<size_t>(s)];
            row[s] = both.value / all.value * lower(both.power - all.power);
        }
    }

    void count_steps(const std::vector<Wide> &alpha, const std::vector<Wide> &arriving, const std::vector<Wide> &beta,
                     HmmCounts &counts) const {
        const Wide all = all_paths(alpha, beta);
        for (int32_t i = 0; i < n_; ++i)
            for (int32_t j = 0; j < n_; ++j) {
                const Wide path = alpha[static_cast<size_t>(i)] * step(i, j) * arriving[static_cast<size_t>(j)];
                counts
                    .transition[static_cast<size_t>(i) * static_cast<size_t>(model_.padded) + static_cast<size_t>(j)] +=
                    path.value / all.value * lower(path.power - all.power);
            }
    }

    void count(int64_t t, const double *row, HmmCounts &counts) const {
        for (int32_t s = 0; s < n_; ++s) {
            if (t == begin_) counts.start[static_cast<size_t>(s)] += row[s];
            if (seen_.codes)
                counts.emission[size_t{seen_.codes[t]} * static_cast<size_t>(model_.padded) + static_cast<size_t>(s)] +=
                    row[s];
        }
    }

    const HmmModel &model_;
    const Observations &seen_;
    SumRun &run_;
    const int64_t begin_, end_;
    const int32_t n_;
    std::vector<Wide> transition_;
    std::vector<std::vector<Wide>> kept_;
};

}  // namespace

double wide_posteriors(const HmmModel &model, const Observations &seen, int64_t begin, int64_t end,
                       const PosteriorSink *sink, HmmCounts *counts, SumRun &run) {
    WideSums sums(model, seen, begin, end, run);
    const Wide all = sums.forward();
    if (all.value != 0 && (sink || counts)) sums.backward(sink, counts);
    return sums.log_of(all);
}

}  // namespace tropalign
