// Hits as columns for Python, with the names of results/found_hits.py.
#pragma once
#include <vector>

#include "../profiles/hit.hpp"
#include "python.hpp"

namespace tropalign {

/// Return "target" (index in the block) and the other numbers of each hit, "domain_offsets", "domain_..." of each
/// domain, "line_offsets" and the four lines of alignments.
ArrayDict hit_columns(const std::vector<TargetHit> &hits);

}  // namespace tropalign
