// Refinement: an alignment is split into two groups, which are aligned anew, round after round.
#pragma once
#include "column_align.hpp"

namespace tropalign {

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
