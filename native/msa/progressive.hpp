// Progressive alignment: groups are aligned up a guide tree; and refinement (refine.cpp), which realigns parts.
#pragma once
#include "column_align.hpp"

namespace tropalign {

/// Align the store's n sequences: node n + k joins the groups of children[k], the first child's columns being the
/// rows of the recurrence. Pairs are weighted by the product of their sequences' weights. The watch advances by
/// merges, n - 1.
ResidueColumns align_progressively(const PosteriorStore &store, const std::array<int32_t, 2> *children,
                                   const double *weights, int n_threads, Watch &watch);

// Refinement: an alignment is split into two groups, which are aligned again, round after round.

/// Ways to split the sequences in a round; both take their random numbers from one generator.
enum class Split {
    random,  // each sequence is in the first group if the lowest bit of its random number is 1
    gap,     // at a column with gaps: the first group has a gap there, the second a residue
};

/// Which alignment of the two groups replaces the previous one.
enum class Accept {
    always,
    not_longer,  // one with at most as many columns
};

struct RefineRules {
    Split split;
    Accept accept;
    int64_t n_rounds;
    uint64_t seed;
};

/// Replace `columns` by the refined ones, without columns of only gaps. A round whose split has been tried on the
/// same alignment before changes nothing and is skipped. The watch advances by rounds.
void refine(const PosteriorStore &store, ResidueColumns &columns, const double *weights, const RefineRules &rules,
            int n_threads, Watch &watch);

}  // namespace tropalign
