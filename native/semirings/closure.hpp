// The closure of a matrix of distances: shortest paths between all pairs of vertices, by a Floyd-Warshall of blocks.
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
// where products are tropical: (X Y)(i, j) = min over k of X(i, k) + Y(k, j). Steps 1 and 4 go the same way, down to
// kClosureBlock vertices. All but a few per cent of the n^3 steps are so in large products, which keep to the caches
// whatever n is (Park, Penner and Prasanna 2004; D'Alberto and Nicolau 2007).
//
// A graph of two parts with edges only between them is such a matrix whose A and D are empty. Step 1 is preceded by
// A = B C, and D is closed after step 3 (Torgasin and Zimmermann 2013).
//
// Where paths are wanted, `via` has for each pair the vertex through which its distance last became smaller, or -1 for
// an edge. What its two parts were then is what they are at the end, or the pair would have become smaller again: so
// `via` describes a path.
#pragma once
#include <cstdint>
#include <vector>

#include "../compute/poll.hpp"
#include "product.hpp"

namespace tropalign {

/// The highest magnitude that distances of integer weights may reach before they would be mistaken for infinity, which
/// negative weights make smaller; distances beyond it are given as infinite where no weight is negative.
template <class T>
inline constexpr int64_t highest_distance(bool has_negative) {
    return has_negative ? kBoundedInfinity<T> / 2 - 1 : kBoundedInfinity<T> - 1;
}

template <class T>
struct ClosureJob {
    T *values;     // n x n, becomes the closure
    int32_t *via;  // n x n, or null; filled here
    int64_t n;
    int64_t n_left;    // of a graph of two parts: the vertices of the first one, the smaller; else 0
    Order order;       // longest paths instead of shortest ones
    double tolerance;  // of floats: a cycle is negative below -tolerance
    int n_threads;
};

/// Returns the number of a vertex on a negative cycle, or -1, or -2 where the poll stopped it. The poll is told how
/// many of the n vertices, by the work, are done.
template <class T>
int64_t close_matrix(const ClosureJob<T> &job, const Poll &poll);

/// The transitive closure of rows of bits, n_words (a multiple of 8) to a row, with each vertex reachable from itself.
/// False where the poll stopped it.
bool close_bits(uint64_t *bits, int64_t n, int64_t n_words, int n_threads, const Poll &poll);

// What the kernels of closures do, and the table of them that every instruction set fills.

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

// Paths from what a closure leaves in `via` (closure.hpp): for each pair of vertices one between them, or -1.

/// The vertex before j on a path from i to j, from `via`; -1 where there is no path or i is j. A row's vertices make a
/// tree. Returns false where roundings of negative weights left no path, or the poll stopped it (see `stopped`).
template <class T>
bool fill_predecessors(const T *values, const int32_t *via, int64_t n, Order order, int32_t *predecessors,
                       int n_threads, const Poll &poll, bool &stopped);

/// The vertices of the cycle through `vertex` that close_matrix found, each once, in the order of its edges.
std::vector<int32_t> cycle_through(const int32_t *via, int64_t n, int64_t vertex);

}  // namespace tropalign
