// Forward and backward sums of one long sequence at the ends of its stretches, by words (words.hpp). The passes
// from both ends do not wait for each other: two threads take one each, and a single thread both in turns, since each
// leaves the processor idle between two products.
//
//     stretches        |  0  |  1  |  2  |  3  |
//     posteriors       x---->x---->x---->x---->      before each stretch
//                       <----y<----y<----y<----y     at the end of each
//     likelihoods      x---->x---->y<----y<----y     the sum over s of x(s) y(s) in the middle
//
// Each pass does the same whoever takes it, so that results do not depend on threads.
#pragma once
#include "sums.hpp"

namespace tropalign {

struct StretchEnds {
    /// Forward sums at the position before each stretch, of the first stretch at its first position; padded, and each
    /// up to a power of two.
    std::vector<double> before;
    /// Backward sums at the last position of each stretch; empty where they are not known.
    std::vector<double> after;
    double log_likelihood = 0;
};

/// Whether words are made for this sequence.
bool goes_by_words(const HmmModel &model, int64_t begin, int64_t end);

/// Sums at the ends of a sequence that goes by words. False where no sum is above 0, or too small.
bool ends_by_words(const HmmModel &model, const Observations &seen, int64_t begin, int64_t end, int64_t stretch,
                   SumRun &run, StretchEnds &ends);

/// The logarithm of its probability alone; false likewise.
bool likelihood_by_words(const HmmModel &model, const Observations &seen, int64_t begin, int64_t end, int64_t stretch,
                         SumRun &run, double &found);

// Likelihoods by models with many states: forward sums from the begin and backward sums from the end meet in the
// middle,
//
//     begin |-----x----->a(m, s)                      sum over s of a(m, s) b(m, s)
//                        b(m, s)<-----x-----| end
//
// so that the matrix of transitions, which no longer fits the first cache, is read once for two steps.

/// From so many states on (padded) that pays.
inline constexpr int32_t kManyStates = 96;

/// Divides by a power of two so that the highest is 1 or a little less; returns the power.
int scaled(Lined &sums, int32_t n_states);

/// The likelihood of two positions and more, for a model that needs no checks. False where no sum is above 0, or too
/// small.
bool likelihood_from_both_ends(const HmmModel &model, const Observations &seen, int64_t begin, int64_t end, SumRun &run,
                               double &found);

}  // namespace tropalign
