// Progressive alignment: groups are aligned up a guide tree.
#pragma once
#include "column_align.hpp"

namespace tropalign {

/// Aligns the store's n sequences: node n + k joins the groups of children[k], the first child's columns being the rows
/// of the recurrence. Pairs count by the product of their sequences' weights. The watch advances by merges, n - 1.
ResidueColumns align_progressively(const PosteriorStore &store, const std::array<int32_t, 2> *children,
                                   const double *weights, int n_threads, Watch &watch);

}  // namespace tropalign
