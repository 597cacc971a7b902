// The alignment of two profiles that CLUSTALW 2.1 finds among those of equal score.
#pragma once
#include <functional>

#include "profiles.hpp"

namespace tropalign {

/// Divide and conquer in linear space (Myers and Miller 1988, CABIOS 4, 11), halving the first profile, with costs that
/// depend on the column. Which of several best alignments comes out depends on the halving and on the order of
/// comparisons, so both are part of the result. `is_stopped` is asked every few rows; what is returned then is of no
/// use.
std::vector<MergeStep> align_by_halves(const ProfilePair &pair, const std::function<bool()> &is_stopped);

}  // namespace tropalign
