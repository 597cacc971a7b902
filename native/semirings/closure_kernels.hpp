// What the kernels of closures do, and the table of them that every instruction set fills.
#pragma once
#include <cstdint>

namespace tropalign {

/// Vertices of a block that is closed vertex by vertex.
inline constexpr int64_t kClosureBlock = 64;

/// A square block of distances whose rows and columns are the vertices [first, first + n).
template <class T>
struct ClosureBlock {
    T *distances;
    int64_t stride;
    int32_t *via;  // null where no paths are wanted
    int64_t via_stride;
    int64_t n;
    int32_t first;
    T tolerance;  // a cycle is negative below -tolerance
};

struct ClosureKernels {
    const char *isa;
    /// Floyd-Warshall over a block of at most kClosureBlock vertices. Returns the first vertex, counted in the block,
    /// that lies on a negative cycle of vertices up to itself, or -1.
    int64_t (*close_float)(const ClosureBlock<float> &);
    int64_t (*close_double)(const ClosureBlock<double> &);
    int64_t (*close_int32)(const ClosureBlock<int32_t> &);
    int64_t (*close_int16)(const ClosureBlock<int16_t> &);
    /// Row i of bits joins row k where bit k of row i is set, for all k in turn (Warshall 1962); n_words a multiple of
    /// 8, rows [begin, end) for the vertices [first, last) as k.
    void (*join_rows)(uint64_t *bits, int64_t n_words, int64_t begin, int64_t end, int64_t first, int64_t last);
};

/// The table of the chosen instruction set.
const ClosureKernels *selected_closure_kernels();

}  // namespace tropalign
