// The best targets of each query, out of all of a set: scores a group of targets at a time, and of these what a query
// keeps. No list of pairs is made.
#pragma once
#include <algorithm>
#include <vector>

#include "../compute/scratch.hpp"
#include "scoring.hpp"
#include "tile.hpp"

namespace tropalign {

// Scores of many queries with a group of targets that lie side by side: what the kernels do, and the table of them that
// every instruction set fills.

enum class GroupSlot { letters, padded, state, profile, offsets, count };
using GroupScratch = Scratch<GroupSlot>;

/// What the kernels take; anything longer goes through units (unit_run.hpp). Longer rows would not be one band, and the
/// letters of a group of longer columns not fit a cache.
inline constexpr int32_t kMostGroupRows = 4096, kMostGroupColumns = 16384;

/// Queries, all of them against each target of the group: a lane per target.
struct GroupRequest {
    const Unit &group;  // the targets as columns; its rows are not looked at
    const Letters *queries;
    int n_queries;
    FreeEnds free_ends;
};

struct GroupKernels {
    int vector_bytes;
    /// Scores of query k with the target of lane l into scores[k * kMaxLanes + l]. Bit l of saturated[k] says that 8
    /// bits did not hold that one; all are set where the query is too long. For scorings that 8 bits hold (ranges.hpp)
    /// and a matrix that does (step_fits8).
    void (*run)(const Scoring &, const GroupRequest &, GroupScratch &, int32_t *scores, uint64_t *saturated);
};

/// The kernels of the instruction set chosen at import.
const GroupKernels *selected_group_kernels();

struct BestRequest {
    int32_t least_score(int64_t query, int64_t target) const {
        return least_scores[(query - first) * n_classes + class_of_target[target]];
    }
    int32_t lowest_score(int64_t query) const {
        const int32_t *of_query = least_scores + (query - first) * n_classes;
        return *std::min_element(of_query, of_query + n_classes);
    }

    Sequences queries, targets;
    const Sequences *reverse;  // the queries' other strand, or null
    int64_t first, last;       // queries [first, last)
    bool skips_self;           // query k and target k are one sequence, which is no pair
    int64_t most;              // targets that a query keeps
    // What a pair has to score to be kept, by the query and by the class of the target, which depends on its length:
    // [query - first][class].
    const int32_t *least_scores;
    int64_t n_classes;
    const int32_t *class_of_target;
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
