// Progressive alignment: groups are aligned up a guide tree.
#pragma once
#include "column_align.hpp"

namespace tropalign {

/// Aligns the store's n sequences: node n + k joins the groups of children[k], the first child's columns being the rows
/// of the recurrence. Pairs count by the product of their sequences' weights. The watch advances by merges, n - 1.
ResidueColumns align_progressively(const PosteriorStore &store, const std::array<int32_t, 2> *children,
                                   const double *weights, int n_threads, Watch &watch);

// Refinement: an alignment is split into two groups, which are aligned anew, round after round.

/// How a round splits the sequences; each takes its random numbers from one generator.
enum class Split {
    random,  // each sequence into the first group where the lowest bit of a number of its own is 1
    gap,     // a column among those with gaps: the first group has a gap there, the second a residue
};

/// Which alignment of the two groups replaces the one before.
enum class Accept {
    always,
    not_longer,  // one with as many columns, or fewer
};

struct RefineRules {
    Split split;
    Accept accept;
    int64_t n_rounds;
    uint64_t seed;
};

/// Replaces `columns` by the refined ones, without columns of gaps only. A round whose split has been tried on the same
/// alignment before changes nothing and is passed over. The watch advances by rounds.
void refine(const PosteriorStore &store, ResidueColumns &columns, const double *weights, const RefineRules &rules,
            int n_threads, Watch &watch);

}  // namespace tropalign
