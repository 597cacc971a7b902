#include "hmm_sums.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "../compute/parallel.hpp"
#include "hmm_both_ends.hpp"
#include "hmm_emissions.hpp"
#include "hmm_wide_sums.hpp"

namespace tropalign {
namespace {

/// Forward sums of a stretch take about this many numbers.
constexpr int64_t kStretchNumbers = 1 << 20;
constexpr double kLog2 = 0.693147180559945309417232121458;
/// Below this a probability makes products too small (kTiny).
constexpr double kSmallestStep = 0x1p-122;

int64_t stretch_of(int32_t padded) { return kStretchNumbers / padded; }

/// In tiles of columns (hmm_sum_kernels.hpp). `from(i, j)` is what stands in row i and column j.
template <class From>
Lined packed(int32_t n_states, int32_t padded, From from) {
    Lined made;
    made.reserve(static_cast<size_t>(n_states) * static_cast<size_t>(padded));
    for (int32_t begin = 0; begin < padded; begin += kTileColumns)
        for (int32_t i = 0; i < n_states; ++i)
            for (int32_t j = begin; j < std::min(begin + kTileColumns, padded); ++j)
                made.push_back(j < n_states ? from(i, j) : 0.0);
    return made;
}

/// One sequence on its way through the kernels.
class Sums {
  public:
    Sums(const HmmModel &model, const Observations &seen, int64_t begin, int64_t end, SumRun &run)
        : model_(model), run_(run), begin_(begin), end_(end), stretch_(std::min(stretch_of(model.padded), end - begin)),
          x_(3 * static_cast<size_t>(model.padded)), emissions_(model, seen, stretch_) {}

    /// Forward through all positions, keeping the sums at the begin of each stretch where `keeps`. False: not to be had
    /// with one power of two per position.
    bool forward(bool keeps) {
        for (int64_t first = begin_; first < end_; first += stretch_) {
            const int64_t last = std::min(first + stretch_, end_);
            run_.check();
            if (!emissions_.prepare(first, last)) return false;
            exponent_ += emissions_.power();
            log_ += emissions_.log();
            if (first == begin_ && !begin()) return false;
            if (keeps) kept_.insert(kept_.end(), x_.begin(), x_.begin() + model_.padded);
            if (!kernels().forward(steps(first, last), x_.data(), exponent_, nullptr)) return false;
        }
        return true;
    }

    double log_likelihood() const {
        double total = 0;
        for (int32_t s = 0; s < model_.n_states; ++s) total += x_[static_cast<size_t>(s)];
        return std::log(total) + static_cast<double>(exponent_) * kLog2 + log_;
    }

    /// Backward, once `forward` has been through; false as there.
    template <class Take>
    bool backward(bool counts, Take take) {
        const auto padded = static_cast<size_t>(model_.padded), room = static_cast<size_t>(stretch_) * padded;
        Lined rows(room), weighted(counts ? room : 0), arriving(counts ? room + padded : 0);
        Lined beta(3 * padded);
        std::fill_n(beta.begin(), model_.n_states, 1.0);
        for (int64_t k = n_stretches() - 1; k >= 0; --k) {
            const int64_t first = begin_ + k * stretch_, n = std::min(stretch_, end_ - first);
            if (counts)  // the first row of the stretch behind
                std::copy_n(arriving.begin(), padded, arriving.begin() + n * model_.padded);
            if (!stretch(k, sums_before(k), beta.data(), rows.data(), counts ? weighted.data() : nullptr,
                         counts ? arriving.data() : nullptr))
                return false;
            take(first, n, rows.data(), weighted.data(), arriving.data() + padded);
        }
        return true;
    }

    /// Backward through all positions for the backward sums at the end of each stretch alone; false as `forward`.
    bool ends(std::vector<double> &found) {
        const auto padded = static_cast<size_t>(model_.padded);
        Lined beta(3 * padded);
        std::fill_n(beta.begin(), model_.n_states, 1.0);
        found.resize(static_cast<size_t>(n_stretches()) * padded);
        for (int64_t k = n_stretches() - 1; k >= 0; --k) {
            const int64_t first = begin_ + k * stretch_, last = std::min(first + stretch_, end_);
            run_.check();
            std::copy_n(beta.begin(), padded, found.begin() + k * model_.padded);
            if (!emissions_.prepare(first, last) ||
                !kernels().backward(all_steps(first, last), beta.data(), nullptr, nullptr, nullptr))
                return false;
        }
        return true;
    }

    /// Posteriors of a stretch as `rows`, from the forward sums before it and the backward sums at its end, which
    /// become those at the end of the stretch before.
    bool stretch(int64_t k, const double *before, double *beta, double *rows, double *weighted, double *arriving) {
        const int64_t first = begin_ + k * stretch_, last = std::min(first + stretch_, end_);
        run_.check();
        if (!emissions_.prepare(first, last)) return false;
        std::copy_n(before, model_.padded, x_.begin());
        again(first, last, rows);
        return kernels().backward(all_steps(first, last), beta, rows, weighted, arriving);
    }

    int64_t n_stretches() const { return (end_ - begin_ - 1) / stretch_ + 1; }
    int64_t stretch_length() const { return stretch_; }
    /// Forward sums before a stretch, at the first position those of the position itself; once `forward` kept them.
    const double *sums_before(int64_t k) const { return kept_.data() + k * model_.padded; }

  private:
    const HmmSumKernels &kernels() const { return *model_.kernels; }

    /// The first position: start and emission.
    bool begin() {
        const double *emission = emissions_.rows() + int64_t{emissions_.index()[0]} * model_.padded;
        double most = 0;
        for (int32_t s = 0; s < model_.padded; ++s) {
            const auto k = static_cast<size_t>(s);
            x_[k] = model_.start[k] * emission[s];
            if (x_[k] < kTiny && model_.start[k] != 0 && emission[s] != 0 && model_.is_checked) return false;
            most = std::max(most, x_[k]);
        }
        return most > kTiny;
    }

    SumSteps all_steps(int64_t first, int64_t last) const {
        return {model_.n_states,   model_.padded,      model_.is_checked, model_.backward.data(),
                emissions_.rows(), emissions_.index(), last - first,      first - begin_};
    }
    /// Forward steps of a stretch; none leads to the first position of all.
    SumSteps steps(int64_t first, int64_t last) const {
        SumSteps made = all_steps(first, last);
        made.matrix = model_.forward.data();
        if (first == begin_) ++made.index, --made.n_steps, ++made.first;
        return made;
    }

    /// Forward sums of a stretch, as they were.
    void again(int64_t first, int64_t last, double *rows) {
        int64_t exponent = 0;
        if (first == begin_) {
            std::copy_n(x_.begin(), model_.padded, rows);
            rows += model_.padded;
        }
        kernels().forward(steps(first, last), x_.data(), exponent, rows);
    }

    const HmmModel &model_;
    SumRun &run_;
    const int64_t begin_, end_, stretch_;
    /// The sums of a position, and room for the kernel.
    Lined x_;
    std::vector<double> kept_;
    Emissions emissions_;
    int64_t exponent_ = 0;
    double log_ = 0;
};

void count_emissions(const HmmModel &model, const Observations &seen, int64_t first, int64_t n_rows,
                     const double *posteriors, bool is_start, HmmCounts &counts) {
    const int64_t padded = model.padded;
    for (int64_t t = 0; seen.codes && t < n_rows; ++t) {
        double *to = counts.emission.data() + seen.codes[first + t] * padded;
        for (int64_t s = 0; s < padded; ++s) to[s] += posteriors[t * padded + s];
    }
    if (is_start)
        for (size_t s = 0; s < counts.start.size(); ++s) counts.start[s] += posteriors[s];
}

/// What `steps` (padded, without their probabilities) says of transitions, added to counts.
void count_transitions(const HmmModel &model, const Lined &steps, HmmCounts &counts) {
    for (size_t i = 0; i < static_cast<size_t>(model.n_states); ++i)
        for (size_t j = 0; j < static_cast<size_t>(model.n_states); ++j)
            counts.transition[i * static_cast<size_t>(model.padded) + j] +=
                steps[i * static_cast<size_t>(model.padded) + j] *
                model.transition[i * static_cast<size_t>(model.n_states) + j];
}

bool narrow_posteriors(Sums &sums, const HmmModel &model, const Observations &seen, int64_t begin, int64_t end,
                       const PosteriorSink *sink, HmmCounts *counts) {
    HmmCounts found(model);
    Lined steps(counts ? found.transition.size() : 0);
    const bool is_good = sums.backward(counts != nullptr, [&](int64_t first, int64_t n_rows, const double *rows,
                                                              const double *weighted, const double *arriving) {
        if (counts) {
            const int64_t n_steps = first + n_rows == end ? n_rows - 1 : n_rows;
            model.kernels->add_outer(weighted, arriving, n_steps, model.padded, steps.data());
            count_emissions(model, seen, first, n_rows, rows, first == begin, found);
        }
        if (sink) (*sink)(first, n_rows, rows);
    });
    if (is_good && counts) {
        count_transitions(model, steps, found);
        counts->add(found);
    }
    return is_good;
}

}  // namespace

HmmModel::HmmModel(const double *start_of, const double *transition_of, const double *emission_of, int32_t states,
                   int32_t symbols)
    : n_states(states), padded(padded_states(states)), n_symbols(symbols), kernels(selected_hmm_sum_kernels()),
      start(static_cast<size_t>(padded)), transition(transition_of, transition_of + int64_t{states} * states) {
    const auto at = [&](int32_t i, int32_t j) { return transition_of[int64_t{i} * n_states + j]; };
    std::copy_n(start_of, n_states, start.begin());
    is_checked = std::any_of(transition.begin(), transition.end(), [](double p) { return p < kSmallestStep; });
    forward = packed(n_states, padded, at);
    backward = packed(n_states, padded, [&](int32_t i, int32_t j) { return at(j, i); });
    for (int32_t c = 0; emission_of && c < n_symbols; ++c) {
        double highest = 0;
        for (int32_t s = 0; s < n_states; ++s) {
            by_symbol.push_back(emission_of[int64_t{s} * n_symbols + c]);
            highest = std::max(highest, by_symbol.back());
        }
        int power = 0;
        std::frexp(highest, &power);
        powers.push_back(power);
        for (int32_t s = 0; s < padded; ++s)
            emissions.push_back(s < n_states ? std::ldexp(emission_of[int64_t{s} * n_symbols + c], -power) : 0.0);
    }
}

HmmCounts::HmmCounts(const HmmModel &model)
    : start(static_cast<size_t>(model.padded)),
      transition(static_cast<size_t>(model.padded) * static_cast<size_t>(model.padded)),
      emission(static_cast<size_t>(model.n_symbols) * static_cast<size_t>(model.padded)) {}

void HmmCounts::add(const HmmCounts &other) {
    for (auto member : {&HmmCounts::start, &HmmCounts::transition, &HmmCounts::emission})
        for (size_t k = 0; k < (this->*member).size(); ++k) (this->*member)[k] += (other.*member)[k];
}

namespace {

/// The sums over several threads: forward and backward sums at the ends of stretches first, side by side, then the
/// stretches, which do not depend on each other any more. The same numbers as one thread finds.
///
///     forward   |-----x-----x-----x----->          x: kept
///     backward  <-----x-----x-----x-----|
///     then      |<--->|<--->|<--->|<--->|          a stretch per thread
bool posteriors_by_stretch(const HmmModel &model, const Observations &seen, int64_t begin, int64_t end,
                           const PosteriorSink &sink, SumRun &run, double &found) {
    Sums ahead(model, seen, begin, end, run), back(model, seen, begin, end, run);
    std::vector<double> ends;
    std::atomic<bool> is_good = true;
    parallel(2, 2, 1, [&](int, int64_t item) {
        if (!(item == 0 ? ahead.forward(true) : back.ends(ends))) is_good = false;
    });
    if (!is_good) return false;
    found = ahead.log_likelihood();
    const auto padded = static_cast<size_t>(model.padded);
    parallel(run.n_threads, ahead.n_stretches(), 1, [&](int, int64_t k) {
        Sums own(model, seen, begin, end, run);
        Lined rows(static_cast<size_t>(own.stretch_length()) * padded), beta(3 * padded);
        std::copy_n(ends.begin() + k * model.padded, padded, beta.begin());
        if (!own.stretch(k, ahead.sums_before(k), beta.data(), rows.data(), nullptr, nullptr)) is_good = false;
        const int64_t first = begin + k * own.stretch_length();
        if (is_good) sink(first, std::min(own.stretch_length(), end - first), rows.data());
    });
    return is_good;
}

}  // namespace

int64_t posterior_stretch(const HmmModel &model) { return stretch_of(model.padded); }

double log_likelihood(const HmmModel &model, const Observations &seen, int64_t begin, int64_t end, SumRun &run) {
    if (begin == end) return 0;
    double found = 0;
    if (model.padded >= kManyStates && !model.is_checked && end - begin > 1)
        return likelihood_from_both_ends(model, seen, begin, end, run, found)
                   ? found
                   : wide_posteriors(model, seen, begin, end, nullptr, nullptr, run);
    Sums sums(model, seen, begin, end, run);
    return sums.forward(false) ? sums.log_likelihood()
                               : wide_posteriors(model, seen, begin, end, nullptr, nullptr, run);
}

double posteriors(const HmmModel &model, const Observations &seen, int64_t begin, int64_t end,
                  const PosteriorSink *sink, HmmCounts *counts, SumRun &run) {
    if (begin == end) return 0;
    double found = 0;
    if (run.n_threads > 1 && sink && !counts && end - begin > stretch_of(model.padded)) {
        if (posteriors_by_stretch(model, seen, begin, end, *sink, run, found)) return found;
    } else {
        Sums sums(model, seen, begin, end, run);
        if (sums.forward(true)) {
            found = sums.log_likelihood();
            if (narrow_posteriors(sums, model, seen, begin, end, sink, counts)) return found;
        }
    }
    if (sink) (*sink)(begin, 0, nullptr);
    return wide_posteriors(model, seen, begin, end, sink, counts, run);
}

}  // namespace tropalign
