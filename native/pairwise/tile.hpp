// A tile: a list of pairs, aligned over threads; columns are returned in the order of the list.
#pragma once
#include <cstdint>

#include "scoring.hpp"

namespace tropalign {

/// Concatenated sequences, with readable margins (see kCodeMargin).
struct Sequences {
    const uint8_t *codes;
    const int64_t *offsets;
    int64_t count;
    Letters operator[](int64_t k) const {
        return {codes + offsets[k], static_cast<int32_t>(offsets[k + 1] - offsets[k])};
    }
};

struct FreeEnds {
    bool query_start, query_end, target_start, target_end;
};

struct TileRequest {
    Sequences queries, targets;
    const int64_t *query_index, *target_index;
    int64_t n_pairs;
    FreeEnds free_ends;
    int n_threads;  // fewer run if memory_bytes is small
    // Limit for the buffers of all threads and for paths, which are held twice while they are put in order. The columns
    // of the result and the plan (about 40 bytes per pair) come on top.
    int64_t memory_bytes;
};

/// A column per quantity, a row per pair; empty if the depth does not include it.
struct TileColumns {
    Buffer<int32_t> score, query_start, query_end, target_start, target_end;
#define X(count) Buffer<int32_t> count;
    TROPALIGN_COUNTS(X)
#undef X
    Buffer<uint32_t> path;
    Buffer<int64_t> path_offsets;
    // Statistics of time, lanes and memory.
    double walk_seconds = 0, unit_seconds = 0;
    uint64_t useful_cells = 0, swept_cells = 0;
    size_t unit_bytes = 0;  // of the buffers of all threads' units
    bool finished = true;
};

/// Align the pairs; poll(started pairs) returns false to stop; see parallel(). Throws std::bad_alloc if paths pass
/// memory_bytes: fewer pairs at a time would fit.
TileColumns align_tile(const Kernels &, const Scoring &, const TileRequest &, const Poll &poll);

}  // namespace tropalign
