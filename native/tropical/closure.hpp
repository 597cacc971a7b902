// The closure of a matrix of distances: shortest paths between all pairs of vertices, by a blocked Floyd-Warshall
// algorithm.
//
// Vertices are split into two halves, whose distances are A and D, with B and C between them:
//
//         first  second
//        +------+------+      1  A = closure of A                     paths inside the first half
//  first |  A   |  B   |      2  B = A B,   C = C A
//        +------+------+      3  D = min(D, C B)                      detours through the first half
// second |  C   |  D   |      4  D = closure of D
//        +------+------+      5  B = B D,   C = D C,   A = min(A, B C)
//
// where products are tropical: (X Y)(i, j) = min over k of X(i, k) + Y(k, j). Steps 1 and 4 are recursive, down to
// kClosureBlock vertices. Therefore all but a few percent of the n^3 steps are in large products, which use the
// caches well for any n (Park, Penner and Prasanna 2004; D'Alberto and Nicolau 2007).
//
// A graph of two parts with edges only between them is such a matrix whose A and D are empty. Step 1 is preceded
// by A = B C, and D is closed after step 3 (Torgasin and Zimmermann 2013).
//
// If paths are requested, `via` has for each pair the vertex through which its distance last became smaller, or -1
// for an edge. The distances of its two parts do not change after that, or the pair would have become smaller
// again; therefore `via` describes a path.
#pragma once
#include <cstdint>
#include <vector>

#include "../compute/poll.hpp"
#include "product.hpp"

namespace tropalign {

/// The highest magnitude that distances of integer weights may reach before they would be mistaken for infinity;
/// it is lower with negative weights. Distances beyond it are given as infinite if no weight is negative.
template <class T>
inline constexpr int64_t highest_distance(bool has_negative) {
    return has_negative ? kBoundedInfinity<T> / 2 - 1 : kBoundedInfinity<T> - 1;
}

template <class T>
struct ClosureJob {
    T *values;     // n x n, replaced by the closure
    int32_t *via;  // n x n, or null; filled here
    int64_t n;
    int64_t n_left;    // for a graph of two parts: number of vertices of the first, smaller one; else 0
    Order order;       // highest: longest paths instead of shortest ones
    double tolerance;  // for floats: a cycle is negative below -tolerance
    int n_threads;
};

/// Close a matrix; returns a vertex on a negative cycle, or -1, or -2 if the poll stopped it. The poll is called
/// with the number of the n vertices, measured by work, that are done.
template <class T>
int64_t close_matrix(const ClosureJob<T> &job, const Poll &poll);

/// Compute the transitive closure of rows of bits, n_words (a multiple of 8) per row, with each vertex reachable
/// from itself. False if the poll stopped it.
bool close_bits(uint64_t *bits, int64_t n, int64_t n_words, int n_threads, const Poll &poll);

// Interface of the closure kernels, and the table of them that each instruction set fills.

/// Number of vertices of a block that is closed vertex by vertex.
inline constexpr int64_t kClosureBlock = 64;

/// A square block of distances whose rows and columns are the vertices [first, first + n).
template <class T>
struct ClosureBlock {
    T *distances;
    int64_t stride;
    int32_t *via;  // null if no paths are requested
    int64_t via_stride;
    int64_t n;
    int32_t first;
    T tolerance;  // a cycle is negative below -tolerance
};

struct ClosureKernels {
    const char *isa;
    /// Floyd-Warshall over a block of at most kClosureBlock vertices. Returns the first vertex, counted in the
    /// block, that lies on a negative cycle of vertices up to itself, or -1.
    int64_t (*close_float)(const ClosureBlock<float> &);
    int64_t (*close_double)(const ClosureBlock<double> &);
    int64_t (*close_int32)(const ClosureBlock<int32_t> &);
    int64_t (*close_int16)(const ClosureBlock<int16_t> &);
    /// OR row k into row i of bits if bit k of row i is set, for all k in turn (Warshall 1962); n_words is a
    /// multiple of 8, i is in [begin, end), k in [first, last).
    void (*join_rows)(uint64_t *bits, int64_t n_words, int64_t begin, int64_t end, int64_t first, int64_t last);
};

/// Return the table of the chosen instruction set.
const ClosureKernels *selected_closure_kernels();

// Paths from the `via` of a closure (closure.hpp): for each pair of vertices one between them, or -1.

/// Find the vertex before j on a path from i to j, from `via`; -1 if none exists or i is j. The predecessors of a row
/// form a tree. False if rounding of negative weights left no path, or if the poll stopped it (see `stopped`).
template <class T>
bool fill_predecessors(const T *values, const int32_t *via, int64_t n, Order order, int32_t *predecessors,
                       int n_threads, const Poll &poll, bool &stopped);

/// Return the vertices of the cycle through `vertex` that close_matrix found, each once, in the order of its
/// edges.
std::vector<int32_t> cycle_through(const int32_t *via, int64_t n, int64_t vertex);

}  // namespace tropalign
