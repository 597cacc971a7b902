// Division of pairs into units of work-groups on a GPU, and the origin of their scores.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

namespace tropalign {

// The numbers below equal those of src/tropalign/pairwise/gpu_plan.py; a test compares them (`gpu_constants`).

/// Integers per unit in `units`, integers per lane in `lanes`, and columns of a block.
constexpr int kGpuUnitInts = 5, kGpuLaneInts = 4, kGpuBlockColumns = 8;

/// Bits of a unit's flags. The flag of a free start or end of columns has twice the value of that of rows.
constexpr uint8_t kGpuFreeRowsBegin = 1, kGpuFreeRowsEnd = 4, kGpuMirrored = 16;
constexpr int kGpuFlagValues = 32;

/// Source of the scores (PAIRS_SOURCE in sweep.k).
enum class RowSource { shared_rows = 0, shared_row = 1, own_rows = 2 };

struct GpuPlanRequest {
    const int64_t *query, *target;  // sequence indices, [pair]
    int64_t n_pairs;
    const int64_t *length;  // [sequence]
    const int32_t *rank;    // [sequence]: its rank by descending length
    const int64_t *bound;   // [sequence]: no value of its pairs exceeds this (excluding extensions of gaps)
    int64_t n_sequences;
    int64_t wide_from;              // pairs whose bound is at least this need 32 bits
    int64_t extend;                 // a pair's bound: the lesser `bound` + extend * the greater length
    int64_t strip_cells;            // pairs of at least this many cells get their own group
    std::array<bool, 4> free_ends;  // query start, query end, target start, target end
    int word_bits;                  // of the narrow words
    int group;                      // work-items
    std::array<int, 3> rows;        // rows of a tile, by RowSource
};

/// Encode where a pair is computed, as read by finish.k and gpu.py: a lane, the half of its words, and the
/// orientation.
constexpr int32_t gpu_place(int64_t lane, int half, bool query_in_rows) {
    return static_cast<int32_t>(4 * lane + 2 * half + query_in_rows);
}

/// Units computed by one kernel.
struct GpuLaunch {
    RowSource source;
    bool strips;
    int word_bits;
    std::vector<int32_t> units;  // kGpuUnitInts each, the costliest first
    std::vector<int32_t> lanes;  // kGpuLaneInts per lane, `group` lanes per unit
    std::vector<int64_t> pair;   // indices into the request, unit by unit
    std::vector<int32_t> where;  // gpu_place() of each pair; lanes are numbered through all units
};

/// Plan launches that contain every pair once. Throws std::length_error if there are more pairs than can be
/// numbered.
std::vector<GpuLaunch> plan_gpu(const GpuPlanRequest &);

}  // namespace tropalign
