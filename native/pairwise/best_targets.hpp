// The best targets of each query, out of a whole set: computes the scores of a group of targets at a time, and
// keeps the best for each query. No list of pairs is built.
#pragma once
#include <algorithm>
#include <vector>

#include "../compute/scratch.hpp"
#include "scoring.hpp"
#include "tile.hpp"

namespace tropalign {

// Scores of many queries with a group of targets in the lanes of a vector: the contract of the kernels, and the
// table of them that every instruction set fills.

enum class GroupSlot { letters, padded, state, profile, offsets, count };
using GroupScratch = Scratch<GroupSlot>;

/// Longest sequences that the kernels take; longer ones go through units (unit_run.hpp). Longer rows would not fit
/// one band, and the residues of a group of longer columns would not fit a cache.
inline constexpr int32_t kMostGroupRows = 4096, kMostGroupColumns = 16384;

/// Scores by position of the queries in place of their letters: the row of a residue is that of its place among
/// `codes`.
struct PositionScores {
    const int32_t *scores;  // [position][target's residue], kLetters each
    const int8_t *step8;    // as Scoring::step8
    // Terms of 16 bits, in two rows of kLetters bytes per position: the lower byte, signed, and the rest / 256. Null if
    // they do not fit.
    const int8_t *step16;
    const uint8_t *codes;  // of the queries

    const int8_t *steps(const Letters &query, int bits) const {
        return bits == 8 ? step8 + (query.codes - codes) * kLetters : step16 + (query.codes - codes) * 2 * kLetters;
    }
};

/// Queries, each against all targets of the group: one lane per target.
struct GroupRequest {
    const Unit &group;  // the targets are the columns; its rows are ignored
    const Letters *queries;
    int n_queries;
    FreeEnds free_ends;
    const PositionScores *positions = nullptr;  // or null
};

struct GroupKernels {
    int vector_bytes;
    /// Write the score of query k with the target of lane l to scores[k * kMaxLanes + l]. Bit l of saturated[k] is
    /// set if that score did not fit 8 bits; all are set if the query is too long. The scoring must fit 8 bits
    /// (ranges.hpp), and so must the matrix (step_fits8).
    void (*run)(const Scoring &, const GroupRequest &, GroupScratch &, int32_t *scores, uint64_t *saturated);
    /// Do so in 16 bits, for queries whose `step16` is given, and groups of at most vector_bytes / 2 lanes.
    void (*run_wide)(const Scoring &, const GroupRequest &, GroupScratch &, int32_t *scores, uint64_t *saturated);
};

/// Return the kernels of the instruction set chosen at import.
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
    const Sequences *reverse;  // other strand of the queries, or null
    int64_t first, last;       // queries [first, last)
    bool skips_self;           // query k and target k are the same sequence, which is not a pair
    int64_t most;              // number of targets that a query keeps
    // Lowest score that is kept: [query - first][class of the target, by its length].
    const int32_t *least_scores;
    int64_t n_classes;
    const int32_t *class_of_target;
    FreeEnds free_ends;
    int n_threads;  // fewer run if memory_bytes is small
    int64_t memory_bytes;
    const PositionScores *positions = nullptr, *reverse_positions = nullptr;  // of queries and reverse, or null
};

/// One row per pair kept: query by query, the best first; of equal scores the earlier target first.
struct BestTargets {
    std::vector<int64_t> query, target;
    std::vector<int32_t> score;
    std::vector<int8_t> strand;  // 1, or -1 if the other strand scores more
    bool finished = true;
};

/// Find the best targets; poll(started pairs) returns false to stop; see parallel().
BestTargets best_targets(const Kernels &, const GroupKernels &, const Scoring &, const BestRequest &, const Poll &poll);

}  // namespace tropalign
