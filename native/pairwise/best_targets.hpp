// The best targets of each query, out of all of a set: scores a group of targets at a time, and of these what a query
// keeps. No list of pairs is made.
#pragma once
#include <vector>

#include "group_kernels.hpp"

namespace tropalign {

struct BestRequest {
    Sequences queries, targets;
    const Sequences *reverse;  // the queries' other strand, or null
    int64_t first, last;       // queries [first, last)
    bool skips_self;           // query k and target k are one sequence, which is no pair
    int64_t most;              // targets that a query keeps
    int32_t least_score;       // of a pair that is kept
    FreeEnds free_ends;
    int n_threads;  // fewer run where memory_bytes is little
    int64_t memory_bytes;
};

/// A row per pair kept: query by query, the best first, and of equal scores the earlier target.
struct BestTargets {
    std::vector<int64_t> query, target;
    std::vector<int32_t> score;
    std::vector<int8_t> strand;  // 1, or -1 where the other strand scores more
    bool finished = true;
};

/// poll(pairs begun) returns false to stop; see parallel().
BestTargets best_targets(const Kernels &, const GroupKernels &, const Scoring &, const BestRequest &, const Poll &poll);

}  // namespace tropalign
