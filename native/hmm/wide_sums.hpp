// The sums of sums.hpp for models and sequences whose numbers are too far apart for one power of two per position:
// a power per number, an order of magnitude slower.
#pragma once
#include "sums.hpp"

namespace tropalign {

/// As `posteriors`. With neither sink nor counts it only goes forward.
double wide_posteriors(const HmmModel &model, const Observations &seen, int64_t begin, int64_t end,
                       const PosteriorSink *sink, HmmCounts *counts, SumRun &run);

}  // namespace tropalign
