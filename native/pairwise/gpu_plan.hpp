// Pairs into units of work-groups: which pairs run side by side on a GPU, and where their scores come from.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

namespace tropalign {

// The numbers below are those of src/tropalign/pairwise/gpu_layout.py; a test compares them (`gpu_constants`).

/// Numbers of a unit and of a lane in `units` and `lanes`, and columns of a block.
constexpr int kGpuUnitInts = 5, kGpuLaneInts = 4, kGpuBlockColumns = 8;

/// Of a unit's flags. A free begin or end of columns has twice the value of that of rows.
constexpr uint8_t kGpuFreeRowsBegin = 1, kGpuFreeRowsEnd = 4, kGpuMirrored = 16;
constexpr int kGpuFlagValues = 32;

/// Where scores come from (PAIRS_SOURCE in sweep.k).
enum class RowSource { shared_rows = 0, shared_row = 1, own_rows = 2 };

struct GpuPlanRequest {
    const int64_t *query, *target;  // indices of sequences, a pair each
    int64_t n_pairs;
    const int64_t *length;  // of each sequence
    const int32_t *rank;    // of each sequence, the longest 0
    const int64_t *bound;   // of each sequence: its share of what values may reach
    int64_t n_sequences;
    int64_t wide_from;                // pairs whose bound reaches this need 32 bits
    int64_t extend;                   // added to the bound for each residue of the longer sequence
    int64_t strip_cells;              // pairs of at least as many cells get a group of their own
    std::array<bool, 4> free_ends;    // query start, query end, target start, target end
    int word_bits;                    // of the narrow words
    int group;                        // work-items
    std::array<int, 3> rows;          // of a tile, by RowSource
};

/// Units that one kernel computes.
struct GpuLaunch {
    RowSource source;
    bool strips;
    int word_bits;
    std::vector<int32_t> units;  // kGpuUnitInts each, the costliest first
    std::vector<int32_t> lanes;  // kGpuLaneInts a lane, `group` lanes a unit
    std::vector<int64_t> pair;   // places in the request, unit by unit
    std::vector<int32_t> where;  // of each pair: 4 (unit group + lane) + 2 half + rows are the query
};

/// Launches that hold every pair once. Throws std::length_error when there are more than can be numbered.
std::vector<GpuLaunch> plan_gpu(const GpuPlanRequest &);

}  // namespace tropalign
