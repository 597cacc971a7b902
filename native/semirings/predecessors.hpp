// Paths from what a closure leaves in `via` (closure.hpp): for each pair of vertices one between them, or -1.
#pragma once
#include <cstdint>
#include <vector>

#include "../compute/poll.hpp"

namespace tropalign {

/// The vertex before j on a path from i to j, from `via`; -1 where there is no path or i is j. A row's vertices make a
/// tree. Returns false where roundings of negative weights left no path, or the poll stopped it (see `stopped`).
template <class T>
bool fill_predecessors(const T *values, const int32_t *via, int64_t n, bool is_max, int32_t *predecessors,
                       int n_threads, const Poll &poll, bool &stopped);

/// The vertices of the cycle through `vertex` that close_matrix found, each once, in the order of its edges.
std::vector<int32_t> cycle_through(const int32_t *via, int64_t n, int64_t vertex);

}  // namespace tropalign
