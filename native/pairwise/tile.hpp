// A tile: a list of pairs, aligned over threads; columns come back in the order of the list.
#pragma once
#include <cstdint>
#include <functional>

#include "unit.hpp"

namespace tropalign {

/// Sequences one after another, with readable margins (see kCodeMargin).
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
    int n_threads;
    int64_t memory_bytes;  // for direction masks and paths, all threads together
};

/// A column a quantity, a row a pair; empty where the depth does not ask for it.
struct TileColumns {
    Buffer<int32_t> score, query_start, query_end, target_start, target_end;
    Buffer<int32_t> identical, similar, gaps, columns;
    Buffer<uint32_t> path;
    Buffer<int64_t> path_offsets;
    // How the time and the lanes were spent.
    double walk_seconds = 0, unit_seconds = 0;
    uint64_t useful_cells = 0, swept_cells = 0;
    bool finished = true;
};

/// poll(pairs begun) returns false to stop; see parallel().
TileColumns align_tile(const Kernels &, const Scoring &, const TileRequest &, const std::function<bool(int64_t)> &poll);

}  // namespace tropalign
