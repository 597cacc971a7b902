// Non-serial polyadic problems: the best way to cut an interval into two, which are cut in the same way.
//
//     M[i,j] = best over i <= k < j of M[i,k] + M[k+1,j], plus the weight of the interval
//
// M is cut into tiles. For a tile (I, J) above the diagonal, all k between I and J form a product of matrices:
//
//           k in I     k between      k in J
//         +--------+------------------+-----+
//     I   |   \    |   M[i,k]         | c   |        c = best(c, M[i,k] + M[k+1,j])
//         +--------+------------------+-----+
//                  |   \              | M   |
//                  |      \           |[k+1,|
//                  |         \        |  j] |
//                  +------------------+-----+
//     J                               |  \  |
//                                     +-----+
//
// The other k need other numbers of the tile itself: these are computed row by row from the lowest, and along each
// row.
#pragma once
#include <cstdint>

#include "../compute/poll.hpp"
#include "product.hpp"

namespace tropalign {

/// Rows and columns of a tile, the same for every instruction set.
inline constexpr int64_t kTriangleTile = 64;

template <class T>
struct Triangle {
    Order order;
    int64_t size;  // rows and columns of `values`, a multiple of kTriangleTile
    /// The matrix M. If is_weighted, it initially holds the weights of intervals: of one element on the diagonal, of
    /// several above it. Otherwise only the diagonal is read. The numbers of M, and the sum of any two, fit T.
    T *values;
    bool is_weighted;
    /// Matrix chain, or null: the cut at k adds sizes[i] sizes[k+1] sizes[j+1]; size + 1 numbers.
    const T *sizes;
    /// Pairs of ends, or null: closing[letters[i] * size + j] + M[i+1,j-1] is another candidate for the interval
    /// if j - i is at least least_distance. M[i+1,i] counts as 0 then, and `values` must hold this 0.
    const T *closing;
    const uint8_t *letters;
    int64_t least_distance;
};

/// True if triangles of this order may have sizes (doubles only).
constexpr bool has_sizes(Order order) { return !is_negated(order); }

struct TriangularKernels {
    void (*of_float)(const Triangle<float> &, int64_t tile_row, int64_t tile_column);
    void (*of_double)(const Triangle<double> &, int64_t tile_row, int64_t tile_column);
    void (*of_int32)(const Triangle<int32_t> &, int64_t tile_row, int64_t tile_column);
    void (*of_int16)(const Triangle<int16_t> &, int64_t tile_row, int64_t tile_column);
};

/// Return the table of the chosen instruction set.
const TriangularKernels *selected_triangular_kernels();

/// Compute M. False if `poll` stopped it.
template <class T>
bool fill(const Triangle<T> &triangle, int n_threads, const Poll &poll);

}  // namespace tropalign
