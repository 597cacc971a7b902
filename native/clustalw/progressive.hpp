// CLUSTALW's progressive alignment: a family's sequences along a guide tree, then those that resemble no other.
#pragma once
#include <optional>

#include "../compute/poll.hpp"
#include "rules.hpp"

namespace tropalign {

/// n sequences, and what is known of them.
struct ClustalwFamily {
    const uint8_t *letters;  // codes below kClustalwLetters
    const int64_t *offsets;  // n + 1; no sequence is empty
    int32_t n;
    const std::array<int32_t, 2> *children;  // of node n + k; below it
    const double *lengths;                   // of the branch above each node
    /// Distances of all pairs i < j in the order (0, 1), (0, 2), ...; nullptr: those of the tree, from .01 to 1.
    const double *distances;
    const int32_t *weights;  // above 0
};

struct ClustalwAlignment {
    std::vector<int32_t> columns;  // of each residue
    int64_t n_columns;
    std::vector<int32_t> order;  // sequences as they came in
};

/// Nodes whose children are done are aligned by idle threads, each by one. No value where poll (aligned sequences)
/// stopped it. Each thread keeps `step_bytes` of steps at most. Throws std::length_error for profiles of more columns
/// than costs can be added up for.
std::optional<ClustalwAlignment> align_clustalw(const ClustalwRules &rules, const ClustalwFamily &family,
                                                size_t step_bytes, int n_threads, const Poll &poll);

}  // namespace tropalign
