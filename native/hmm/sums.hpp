// Sums over all paths of a hidden Markov model: likelihoods (forward), posteriors of states and expected counts.
//
//     forward sums    a(t, s): all paths that end in s at t        a(t + 1, j) = e(t + 1, j) * sum over i of a(t, i)
//     p(i, j) backward sums   b(t, s): all ways on from s at t             b(t, i) = sum over j of p(i, j) e(t + 1, j)
//     b(t + 1, j) posteriors      a(t, s) b(t, s) / sum of these over s
//
// (Rabiner 1989, A tutorial on hidden Markov models.) Sums are doubles with one power of two for all states of a
// position. A number below 2^-900 of the highest would lose digits. Where every state reaches every other one with a
// probability of 2^-122 or more, that does not matter: in the next sum it stands beside one that is 2^778 times as
// large. Elsewhere the sequence is summed again with a power of two per number (wide_sums.cpp), which is slower.
//
// Positions are taken in stretches. Forward sums are kept for one stretch and for the position before each, and made
// again, stretch by stretch from the end, on the way backward: memory does not grow with length * states. Where the
// backward sums at the ends of stretches are found first, too, stretches do not depend on each other any more:
//
//     forward   |-----x-----x-----x----->          x: kept
//     backward  <-----x-----x-----x-----|
//     then      |<--->|<--->|<--->|<--->|          a stretch per thread
//
// The first two are side by side where there are threads, and several steps at a time where that pays (ends.hpp).
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <vector>

#include "sum_kernels.hpp"

namespace tropalign {

/// Memory at the begin of a cache line, so that no vector lies across two.
template <class T>
struct LineAllocator {
    using value_type = T;
    static constexpr std::align_val_t kLine{64};

    LineAllocator() = default;
    template <class U>
    LineAllocator(const LineAllocator<U> &) {}
    T *allocate(size_t n) { return static_cast<T *>(::operator new(n * sizeof(T), kLine)); }
    void deallocate(T *p, size_t) { ::operator delete(p, kLine); }
    bool operator==(const LineAllocator &) const = default;
};
using Lined = std::vector<double, LineAllocator<double>>;

class HmmWords;

/// The numbers of a model as the kernels take them. Rows of `transition` and `emission` are per state.
struct HmmModel {
    /// `emission` may be null, where emissions are given per position. Words are made if they pay for the longest
    /// sequence.
    HmmModel(const double *start, const double *transition, const double *emission, int32_t n_states, int32_t n_symbols,
             int64_t longest);

    int32_t n_states, padded, n_symbols;
    bool is_checked;
    const HmmSumKernels *kernels;
    std::vector<double> start;
    Lined forward, backward;
    /// A row per symbol: probabilities times 2^-power, the highest between 1/2 and 1.
    Lined emissions;
    std::vector<int32_t> powers;
    /// The given tables: n_states * n_states, and a row per symbol.
    std::vector<double> transition, by_symbol;
    /// Null where steps are taken one by one.
    std::shared_ptr<const HmmWords> words;
};

/// What was observed: a code per position, or else the logarithm of an emission per position and state.
struct Observations {
    const uint8_t *codes;
    const double *frames;
};

/// Who takes posteriors.
struct PosteriorSink {
    /// Takes a stretch of positions, from `first` on, a padded row each. Several threads may call it, for different
    /// stretches. Without rows: what came so far of this sequence is not good, and comes again.
    std::function<void(int64_t first, int64_t n_rows, const double *posteriors)> take;
    /// Whether those of [first, last) are needed, which may come nevertheless; null where all are.
    std::function<bool(int64_t first, int64_t last)> wants = nullptr;
};

/// Counts that paths are expected to have; those of transitions and emissions padded, the latter per symbol.
struct HmmCounts {
    HmmCounts(const HmmModel &model);
    void add(const HmmCounts &other);

    std::vector<double> start, transition, emission;
};

/// Thrown out of sums that are to stop.
struct SumsStopped {};

/// Threads for one sequence, and whether to stop.
struct SumRun {
    int n_threads;
    const std::atomic<bool> &stops;

    void check() const {
        if (stops.load(std::memory_order_relaxed)) throw SumsStopped{};
    }
};

/// Sequences that are longer are worth all threads, one after another.
int64_t long_sequence(const HmmModel &model);

/// Positions whose posteriors come together, counted from the begin of their sequence, but where wide sums are made.
int64_t posterior_stretch(const HmmModel &model);

/// The logarithm of the probability of the observations [begin, end); 0 of none, -infinity where no path makes them.
double log_likelihood(const HmmModel &model, const Observations &seen, int64_t begin, int64_t end, SumRun &run);

/// The logarithm of the likelihood, with posteriors of all stretches, and counts, where these are not null. No sink is
/// called, and nothing counted, where no path makes the observations.
double posteriors(const HmmModel &model, const Observations &seen, int64_t begin, int64_t end,
                  const PosteriorSink *sink, HmmCounts *counts, SumRun &run);

// The sums of sums.hpp for models and sequences whose numbers are too far apart for one power of two per position:
// a power per number, an order of magnitude slower.

/// Finds what `posteriors` does. With neither sink nor counts it only goes forward.
double wide_posteriors(const HmmModel &model, const Observations &seen, int64_t begin, int64_t end,
                       const PosteriorSink *sink, HmmCounts *counts, SumRun &run);

}  // namespace tropalign
