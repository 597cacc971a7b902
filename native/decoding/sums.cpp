#include "sums.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <deque>
#include <numbers>

#include "../compute/parallel.hpp"
#include "../simd/dispatch.hpp"
#include "emissions.hpp"
#include "ends.hpp"
#include "sum_kernels.hpp"
#include "words.hpp"

namespace tropalign {

TROPALIGN_DISPATCH(HmmSumKernels, hmm_sum_kernels)

namespace {

/// Approximate number of forward sums in a stretch: with few states they stay in the second cache; with many, they are
/// few compared with the sums kept between stretches.
constexpr int64_t kStretchNumbers = 1 << 20, kStretchOfFew = 1 << 14;
constexpr int32_t kFewStates = 16;
/// Counts are added up in at most this many parts of neighbouring stretches, and in fewer if they take this many
/// numbers, regardless of the number of threads.
constexpr int64_t kMostParts = 32, kPartNumbers = 1 << 22;
/// A probability below this makes products too small (kTiny).
constexpr double kSmallestSafeStep = 0x1p-122;

int64_t stretch_of(int32_t padded) { return (padded <= kFewStates ? kStretchOfFew : kStretchNumbers) / padded; }

/// Pack a matrix in tiles of columns (sum_kernels.hpp). `from(i, j)` is the element in row i and column j.
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

/// Computes the sums of one sequence by the kernels.
class Sums {
  public:
    Sums(const HmmModel &model, const Observations &seen, int64_t begin, int64_t end, SumRun &run)
        : model_(model), run_(run), begin_(begin), end_(end), stretch_(std::min(stretch_of(model.padded), end - begin)),
          x_(3 * static_cast<size_t>(model.padded)), emissions_(model, seen, stretch_) {}

    /// Run forward through all positions, keeping the sums at the start of each stretch if `keeps`. Returns false
    /// if one power of two per position does not suffice.
    bool forward(bool keeps) {
        for (int64_t first = begin_; first < end_; first += stretch_) {
            const int64_t last = std::min(first + stretch_, end_);
            run_.check();
            if (!emissions_.prepare(first, last)) return false;
            exponent_ += emissions_.power();
            log_ += emissions_.log();
            if (first == begin_ && !begin()) return false;
            if (keeps) kept_.insert(kept_.end(), x_.begin(), x_.begin() + model_.padded);
            SumStream stream{steps(first, last), x_.data()};
            kernels().forward(&stream, 1);
            if (!stream.is_good) return false;
            exponent_ += stream.exponent;
        }
        return true;
    }

    double log_likelihood() const {
        double total = 0;
        for (int32_t s = 0; s < model_.n_states; ++s) total += x_[static_cast<size_t>(s)];
        return std::log(total) + static_cast<double>(exponent_) * std::numbers::ln2 + log_;
    }

    /// Run backward through all positions, only for the backward sums at the end of each stretch; false as in
    /// `forward`.
    bool ends(std::vector<double> &found) {
        const auto padded = static_cast<size_t>(model_.padded);
        Lined beta(3 * padded);
        std::fill_n(beta.begin(), model_.n_states, 1.0);
        found.resize(static_cast<size_t>(n_stretches()) * padded);
        for (int64_t k = n_stretches() - 1; k >= 0; --k) {
            const int64_t first = begin_ + k * stretch_, last = std::min(first + stretch_, end_);
            run_.check();
            std::copy_n(beta.begin(), padded, found.begin() + k * model_.padded);
            if (!emissions_.prepare(first, last)) return false;
            SumStream stream{all_steps(first, last), beta.data()};
            kernels().backward(&stream, 1);
            if (!stream.is_good) return false;
        }
        return true;
    }

    /// Set up the forward pass through a stretch from the sums before it; `rows` will get its sums. False as in
    /// `forward`.
    bool prepare(int64_t k, const double *before, double *rows, SumStream &stream) {
        run_.check();
        if (!emissions_.prepare(begin_of(k), begin_of(k) + length_of(k))) return false;
        std::copy_n(before, model_.padded, x_.begin());
        if (k == 0) {
            std::copy_n(before, model_.padded, rows);
            rows += model_.padded;
        }
        stream = {steps(begin_of(k), begin_of(k) + length_of(k)), x_.data(), rows};
        return true;
    }

    /// Set up the backward pass of stretch k, after `prepare`. `beta` holds the backward sums at the end of the
    /// stretch; the pass replaces them by those at the end of the previous stretch.
    SumStream back(int64_t k, double *beta, double *rows, double *weighted, double *arriving) const {
        return {all_steps(begin_of(k), begin_of(k) + length_of(k)), beta, rows, weighted, arriving};
    }

    int64_t n_stretches() const { return (end_ - begin_ - 1) / stretch_ + 1; }
    int64_t begin_of(int64_t k) const { return begin_ + k * stretch_; }
    int64_t length_of(int64_t k) const { return std::min(stretch_, end_ - begin_of(k)); }
    /// Forward sums before each stretch, for the first one those of the first position; once `forward` kept them.
    const std::vector<double> &kept() const { return kept_; }

  private:
    const HmmSumKernels &kernels() const { return *model_.kernels; }

    /// Compute the first position: start and emission.
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
    /// Return the forward steps of a stretch; none leads to the very first position.
    SumSteps steps(int64_t first, int64_t last) const {
        SumSteps made = all_steps(first, last);
        made.matrix = model_.forward.data();
        if (first == begin_) ++made.index, --made.n_steps, ++made.first;
        return made;
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

/// Find the ends of stretches from both sides; a single thread that takes single steps omits the backward sums.
bool find_ends(const HmmModel &model, const Observations &seen, int64_t begin, int64_t end, SumRun &run,
               StretchEnds &ends) {
    if (goes_by_words(model, begin, end))
        return ends_by_words(model, seen, begin, end, stretch_of(model.padded), run, ends);
    Sums ahead(model, seen, begin, end, run);
    std::atomic<bool> is_good = true;
    if (run.n_threads > 1 && ahead.n_stretches() > 1) {
        Sums back(model, seen, begin, end, run);
        parallel(2, 2, 1, [&](int, int64_t item) {
            if (!(item == 0 ? ahead.forward(true) : back.ends(ends.after))) is_good = false;
        });
    } else is_good = ahead.forward(true);
    ends.before = ahead.kept();
    ends.log_likelihood = ahead.log_likelihood();
    return is_good;
}

/// Processes one stretch at a time forward and back.
class Stretch {
  public:
    Stretch(const HmmModel &model, const Observations &seen, int64_t begin, int64_t end, bool counts, SumRun &run)
        : model_(model), seen_(seen), padded_(static_cast<size_t>(model.padded)), sums_(model, seen, begin, end, run),
          rows_(static_cast<size_t>(sums_.length_of(0)) * padded_), weighted_(counts ? rows_.size() + padded_ : 0),
          arriving_(counts ? rows_.size() : 0), beta_(3 * padded_) {
        std::fill_n(beta_.begin(), model.n_states, 1.0);
    }

    /// Start stretch k. Backward sums at its end are `after`, or those that the following stretch has left here.
    bool begin(int64_t k, const double *before, const double *after, SumStream &stream) {
        k_ = k;
        before_ = before;
        if (after) std::copy_n(after, padded_, beta_.begin());
        return sums_.prepare(k, before, rows_.data(), stream);
    }
    SumStream back() {
        const bool counts = !weighted_.empty();
        return sums_.back(k_, beta_.data(), rows_.data(), counts ? weighted_.data() + padded_ : nullptr,
                          counts ? arriving_.data() : nullptr);
    }
    void end(const PosteriorSink *sink, HmmCounts *counts) {
        if (counts) count(k_, before_, *counts);
        if (sink) sink->take(sums_.begin_of(k_), sums_.length_of(k_), rows_.data());
    }

  private:
    /// Count symbols, starts, and steps that arrive in the stretch (without their probabilities).
    void count(int64_t k, const double *before, HmmCounts &counts) {
        const int64_t n = sums_.length_of(k), is_start = k == 0;
        double total = 0;
        for (size_t s = 0; s < padded_; ++s) total += before[s] * beta_[s];
        for (size_t s = 0; s < padded_; ++s) weighted_[s] = before[s] / total;
        model_.kernels->add_outer(weighted_.data() + is_start * model_.padded,
                                  arriving_.data() + is_start * model_.padded, n - is_start, model_.padded,
                                  counts.transition.data());
        for (int64_t t = 0; seen_.codes && t < n; ++t) {
            double *to = counts.emission.data() + seen_.codes[sums_.begin_of(k) + t] * int64_t{model_.padded};
            for (size_t s = 0; s < padded_; ++s) to[s] += rows_[static_cast<size_t>(t) * padded_ + s];
        }
        if (is_start)
            for (size_t s = 0; s < padded_; ++s) counts.start[s] += rows_[s];
    }

    const HmmModel &model_;
    const Observations &seen_;
    const size_t padded_;
    Sums sums_;
    Lined rows_, weighted_, arriving_, beta_;
    int64_t k_ = 0;
    const double *before_ = nullptr;
};

/// Some stretches of one sequence, a few in alternation.
class StretchesInTurns {
  public:
    StretchesInTurns(const HmmModel &model, const Observations &seen, int64_t begin, int64_t end, bool counts,
                     int turns, SumRun &run)
        : model_(model) {
        for (int q = 0; q < turns; ++q) lanes_.emplace_back(model, seen, begin, end, counts, run);
    }

    /// Compute posteriors of `chosen` stretches, in that order; false if one power of two per position does not
    /// suffice.
    bool take(const std::vector<int64_t> &chosen, const StretchEnds &ends, const PosteriorSink *sink,
              HmmCounts *counts) {
        for (size_t first = 0; first < chosen.size(); first += lanes_.size()) {
            const size_t n = std::min(lanes_.size(), chosen.size() - first);
            SumStream streams[kStreams];
            for (size_t q = 0; q < n; ++q) {
                const int64_t at = chosen[first + q] * model_.padded;
                const double *after = ends.after.empty() ? nullptr : ends.after.data() + at;
                if (!lanes_[q].begin(chosen[first + q], ends.before.data() + at, after, streams[q])) return false;
            }
            model_.kernels->forward(streams, static_cast<int>(n));
            for (size_t q = 0; q < n; ++q) streams[q] = lanes_[q].back();
            model_.kernels->backward(streams, static_cast<int>(n));
            for (size_t q = 0; q < n; ++q)
                if (!streams[q].is_good) return false;
            for (size_t q = 0; q < n; ++q) lanes_[q].end(sink, counts);
        }
        return true;
    }

  private:
    const HmmModel &model_;
    std::deque<Stretch> lanes_;
};

/// Convert counts of steps to counts of transitions.
void weigh_steps(const HmmModel &model, HmmCounts &counts) {
    const auto n = static_cast<size_t>(model.n_states), padded = static_cast<size_t>(model.padded);
    for (size_t i = 0; i < n; ++i)
        for (size_t j = 0; j < n; ++j) counts.transition[i * padded + j] *= model.transition[i * n + j];
}

int64_t parts_of(const HmmModel &model, int64_t n_stretches, bool counts, int turns) {
    if (!counts) return (n_stretches + turns - 1) / turns;
    const int64_t n = kPartNumbers / (int64_t{model.padded} * model.padded);
    return std::min(n_stretches, std::clamp<int64_t>(n, 1, kMostParts));
}

/// Compute the results of `posteriors`; false if one power of two per position does not suffice.
bool narrow_posteriors(const HmmModel &model, const Observations &seen, int64_t begin, int64_t end,
                       const PosteriorSink *sink, HmmCounts *counts, SumRun &run, double &log_likelihood) {
    StretchEnds ends;
    if (!find_ends(model, seen, begin, end, run, ends)) return false;
    log_likelihood = ends.log_likelihood;
    const bool one_by_one = ends.after.empty();
    const int turns = one_by_one || model.padded > kFewStates ? 1 : kStreams;
    const int64_t stretch = stretch_of(model.padded), n = static_cast<int64_t>(ends.before.size()) / model.padded;
    const int64_t n_parts = parts_of(model, n, counts != nullptr, turns);
    std::vector<HmmCounts> found(counts ? static_cast<size_t>(n_parts) : 0, HmmCounts(model));
    std::deque<StretchesInTurns> rooms;
    const int n_threads = one_by_one ? 1 : useful_threads(run.n_threads, n_parts, 1);
    for (int t = 0; t < n_threads; ++t) rooms.emplace_back(model, seen, begin, end, counts != nullptr, turns, run);
    const auto is_wanted = [&](int64_t k) {
        const int64_t first = begin + k * stretch;
        return one_by_one || counts || !sink->wants || sink->wants(first, std::min(first + stretch, end));
    };
    std::atomic<bool> is_good = true;
    const auto take = [&](int thread, int64_t part) {
        std::vector<int64_t> chosen;
        for (int64_t k = (part + 1) * n / n_parts - 1; k >= part * n / n_parts; --k)
            if (is_wanted(k)) chosen.push_back(k);
        HmmCounts *own = counts ? &found[static_cast<size_t>(part)] : nullptr;
        if (is_good && !rooms[static_cast<size_t>(thread)].take(chosen, ends, sink, own)) is_good = false;
    };
    if (one_by_one)
        for (int64_t part = n_parts - 1; part >= 0; --part) take(0, part);
    else parallel(n_threads, n_parts, 1, take);
    if (!is_good) return false;
    for (HmmCounts &part : found) {
        weigh_steps(model, part);
        counts->add(part);
    }
    return true;
}

}  // namespace

HmmModel::HmmModel(const double *start_of, const double *transition_of, const double *emission_of, int32_t states,
                   int32_t symbols, int64_t longest)
    : n_states(states), padded(padded_states(states)), n_symbols(symbols), kernels(selected_hmm_sum_kernels()),
      start(static_cast<size_t>(padded)), transition(transition_of, transition_of + int64_t{states} * states) {
    const auto at = [&](int32_t i, int32_t j) { return transition_of[int64_t{i} * n_states + j]; };
    std::copy_n(start_of, n_states, start.begin());
    is_checked = std::any_of(transition.begin(), transition.end(), [](double p) { return p < kSmallestSafeStep; });
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
    if (HmmWords::pay(longest) && HmmWords::suit(*this)) words = std::make_shared<const HmmWords>(*this);
}

HmmCounts::HmmCounts(const HmmModel &model)
    : start(static_cast<size_t>(model.padded)),
      transition(static_cast<size_t>(model.padded) * static_cast<size_t>(model.padded)),
      emission(static_cast<size_t>(model.n_symbols) * static_cast<size_t>(model.padded)) {}

void HmmCounts::add(const HmmCounts &other) {
    for (auto member : {&HmmCounts::start, &HmmCounts::transition, &HmmCounts::emission})
        for (size_t k = 0; k < (this->*member).size(); ++k) (this->*member)[k] += (other.*member)[k];
}

int64_t long_sequence(const HmmModel &model) { return kStretchNumbers / model.padded; }

int64_t posterior_stretch(const HmmModel &model) { return stretch_of(model.padded); }

double log_likelihood(const HmmModel &model, const Observations &seen, int64_t begin, int64_t end, SumRun &run) {
    if (begin == end) return 0;
    double found = 0;
    if (model.padded >= kManyStates && !model.is_checked && end - begin > 1)
        return likelihood_from_both_ends(model, seen, begin, end, run, found)
                   ? found
                   : wide_posteriors(model, seen, begin, end, nullptr, nullptr, run);
    if (goes_by_words(model, begin, end))
        return likelihood_by_words(model, seen, begin, end, stretch_of(model.padded), run, found)
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
    if (narrow_posteriors(model, seen, begin, end, sink, counts, run, found)) return found;
    if (sink) sink->take(begin, 0, nullptr);
    return wide_posteriors(model, seen, begin, end, sink, counts, run);
}

}  // namespace tropalign
