// A score that a global alignment has at the least: that of one without a gap between two residues' pairs.
#pragma once
#include <cstdint>

#include "pair_bounds.hpp"

namespace tropalign {

/// The best of some alignments along one diagonal each, the first that is above `enough`, per pair.
///
///     query    AACGTTAC--        diagonal 2: two residues of the target, then pairs, then what is left of either
///     target   --CGTAACGG        sequence against a gap
///
/// `scores` has kLetters numbers per letter of the query.
void score_floors(const int32_t *scores, int32_t open, int32_t extend, const BoundRequest &request,
                  const int32_t *enough, int32_t *floor);

}  // namespace tropalign
