// Sums over all paths of a hidden Markov model: likelihoods (forward), posteriors of states and expected counts.
//
//     forward sums    a(t, s): all paths that end in s at t
//                     a(t + 1, j) = e(t + 1, j) * sum over i of a(t, i) p(i, j)
//     backward sums   b(t, s): all continuations from s at t
//                     b(t, i) = sum over j of p(i, j) e(t + 1, j) b(t + 1, j)
//     posteriors      a(t, s) b(t, s) / (sum over r of a(t, r) b(t, r))
//
// (Rabiner 1989, A tutorial on hidden Markov models.) Sums are doubles with one power of two for all states of a
// position. A number below 2^-900 of the highest would lose digits. If every state reaches every other one with a
// probability of at least 2^-122, that does not matter: in the next sum it is added to one that is 2^778 times as
// large. Otherwise the sequence is summed again with a power of two per number (wide_sums.cpp), which is slower.
//
// Positions are processed in stretches. Forward sums are kept for one stretch and for the position before each,
// and computed again, stretch by stretch from the end, during the backward pass: memory does not grow with length
// * states. If the backward sums at the ends of stretches are also computed first, stretches no longer depend on
// each other:
//
//     forward   |-----x-----x-----x----->          x: kept
//     backward  <-----x-----x-----x-----|
//     then      |<--->|<--->|<--->|<--->|          a stretch per thread
//
// The first two run in parallel if there are threads, and several steps at a time if that pays (ends.hpp).
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <vector>

#include "sum_kernels.hpp"

namespace tropalign {

/// Allocates memory at the start of a cache line, so that no vector crosses a line.
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

/// The numbers of a model in the form for the kernels. Rows of `transition` and `emission` are per state.
struct HmmModel {
    /// `emission` may be null if emissions are given per position. Words are made if they pay for the longest
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
    /// Null if sums are computed step by step.
    std::shared_ptr<const HmmWords> words;
};

/// Observations: a code per position, or else the logarithm of an emission per position and state.
struct Observations {
    const uint8_t *codes;
    const double *frames;
};

/// Receiver of posteriors.
struct PosteriorSink {
    /// Receives a stretch of positions starting at `first`, a padded row each. Several threads may call it, for
    /// different stretches. With null rows: earlier results of this sequence are invalid, and will be sent again.
    std::function<void(int64_t first, int64_t n_rows, const double *posteriors)> take;
    /// True if the posteriors of [first, last) are needed; others may also be sent. Null if all are needed.
    std::function<bool(int64_t first, int64_t last)> wants = nullptr;
};

/// Expected counts of paths. Counts of transitions and emissions are padded; emissions are per symbol.
struct HmmCounts {
    HmmCounts(const HmmModel &model);
    void add(const HmmCounts &other);

    std::vector<double> start, transition, emission;
};

/// Thrown by sums that were stopped.
struct SumsStopped {};

/// Threads for one sequence, and the stop flag.
struct SumRun {
    int n_threads;
    const std::atomic<bool> &stops;

    void check() const {
        if (stops.load(std::memory_order_relaxed)) throw SumsStopped{};
    }
};

/// Return the length above which sequences use all threads, one after another.
int64_t long_sequence(const HmmModel &model);

/// Return the number of positions whose posteriors are sent together, counted from the start of their sequence;
/// wide sums may differ.
int64_t posterior_stretch(const HmmModel &model);

/// Return the logarithm of the probability of the observations [begin, end); 0 if empty, -infinity if no path
/// emits them.
double log_likelihood(const HmmModel &model, const Observations &seen, int64_t begin, int64_t end, SumRun &run);

/// Return the logarithm of the likelihood, and compute posteriors of all stretches, and counts, unless these are
/// null. If no path emits the observations, the sink is not called, and nothing is counted.
double posteriors(const HmmModel &model, const Observations &seen, int64_t begin, int64_t end,
                  const PosteriorSink *sink, HmmCounts *counts, SumRun &run);

// The sums of sums.hpp for models and sequences whose numbers differ too much for one power of two per position: a
// power per number, an order of magnitude slower.

/// Compute the results of `posteriors`. Without sink and counts it only runs forward.
double wide_posteriors(const HmmModel &model, const Observations &seen, int64_t begin, int64_t end,
                       const PosteriorSink *sink, HmmCounts *counts, SumRun &run);

}  // namespace tropalign
