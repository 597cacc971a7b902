// Likelihoods by models with many states: forward sums from the begin and backward sums from the end meet in the
// middle,
//
//     begin |-----x----->a(m, s)                      sum over s of a(m, s) b(m, s)
//                        b(m, s)<-----x-----| end
//
// so that the matrix of transitions, which no longer fits the first cache, is read once for two steps.
#pragma once
#include "sums.hpp"

namespace tropalign {

/// From so many states on (padded) that pays.
inline constexpr int32_t kManyStates = 96;

/// Divides by a power of two so that the highest is 1 or a little less; returns the power.
int scaled(Lined &sums, int32_t n_states);

/// Of two positions and more, by a model that needs no checks. False where no sum is above 0, or too small.
bool likelihood_from_both_ends(const HmmModel &model, const Observations &seen, int64_t begin, int64_t end, SumRun &run,
                               double &found);

}  // namespace tropalign
