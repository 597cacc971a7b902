// Forward and backward sums of one long sequence at the ends of its stretches, by words (words.hpp). The passes
// from both ends are independent: two threads take one each, and a single thread alternates between them, since
// each leaves the processor idle between two products.
//
//     stretches        |  0  |  1  |  2  |  3  |
//     posteriors       x---->x---->x---->x---->      before each stretch
//                       <----y<----y<----y<----y     at the end of each
//     likelihoods      x---->x---->y<----y<----y     the sum over s of x(s) y(s) in the middle
//
// Each pass computes the same in either case, so that results do not depend on the number of threads.
#pragma once
#include "sums.hpp"

namespace tropalign {

struct StretchEnds {
    /// Forward sums at the position before each stretch, for the first stretch at its first position; padded, and
    /// each up to a power of two.
    std::vector<double> before;
    /// Backward sums at the last position of each stretch; empty if not known.
    std::vector<double> after;
    double log_likelihood = 0;
};

/// True if this sequence is summed by words.
bool goes_by_words(const HmmModel &model, int64_t begin, int64_t end);

/// Compute sums at the ends of the stretches of a sequence by words. Returns false if no sum is above 0, or large
/// enough.
bool ends_by_words(const HmmModel &model, const Observations &seen, int64_t begin, int64_t end, int64_t stretch,
                   SumRun &run, StretchEnds &ends);

/// Compute only the logarithm of the sequence's probability; false for the same reasons.
bool likelihood_by_words(const HmmModel &model, const Observations &seen, int64_t begin, int64_t end, int64_t stretch,
                         SumRun &run, double &found);

// Likelihoods by models with many states: forward sums from the start and backward sums from the end meet in the
// middle,
//
//     begin |-----x----->a(m, s)                      sum over s of a(m, s) b(m, s)
//                        b(m, s)<-----x-----| end
//
// so that the matrix of transitions, which no longer fits the first cache, is read once for two steps.

/// Number of (padded) states from which this pays.
inline constexpr int32_t kManyStates = 96;

/// Divide by a power of two so that the highest is 1 or slightly less; return the power.
int scaled(Lined &sums, int32_t n_states);

/// Compute the likelihood of at least two positions, for a model that needs no checks. Returns false if no sum is
/// above 0, or large enough.
bool likelihood_from_both_ends(const HmmModel &model, const Observations &seen, int64_t begin, int64_t end, SumRun &run,
                               double &found);

}  // namespace tropalign
