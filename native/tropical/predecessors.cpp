// Paths from the result of a closure: the vertex before the last of each pair.
#include <algorithm>
#include <atomic>
#include <utility>

#include "../compute/buffer.hpp"
#include "../compute/parallel.hpp"
#include "closure.hpp"
#include "product.hpp"

namespace tropalign {
namespace {

/// Columns that are processed together: a cache line.
constexpr int64_t kColumns = 16;
constexpr int32_t kUnknown = -2;

/// Find the last edge of each path to the vertices [first, first + count): for a path through k, the last edge of
/// the path from k. The columns are copied to a dense buffer, because the chain of k jumps between rows. False if
/// `via` has a cycle.
template <class T>
bool fill_columns(const T *values, const int32_t *via, int64_t n, T infinity, int64_t first, int64_t count,
                  int32_t *predecessors) {
    Buffer<int32_t> through(static_cast<size_t>(n * kColumns)), last(static_cast<size_t>(n * kColumns));
    for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < count; ++j) {
            const int64_t at = i * n + first + j, k = i * kColumns + j;
            // Infinite integers may have become smaller through negative weights.
            const bool is_path = i != first + j && values[at] != infinity;
            through[k] = via[at];
            last[k] = !is_path ? -1 : via[at] < 0 ? static_cast<int32_t>(i) : kUnknown;
        }
    std::vector<int64_t> waiting;
    for (int64_t k = 0; k < n * kColumns; ++k) {
        const int64_t j = k % kColumns;
        if (j >= count || last[k] != kUnknown) continue;
        int64_t v = k;
        for (waiting.clear(); last[v] == kUnknown; v = through[v] * kColumns + j) {
            if (static_cast<int64_t>(waiting.size()) > n) return false;
            waiting.push_back(v);
        }
        for (int64_t w : waiting) last[w] = last[v];
    }
    for (int64_t i = 0; i < n; ++i) std::copy_n(last.data() + i * kColumns, count, predecessors + i * n + first);
    return true;
}

/// Find the vertices after `from` on the path to `to`; false if it is longer than any path.
bool expand(const int32_t *via, int64_t n, int64_t from, int64_t to, std::vector<int32_t> &path) {
    std::vector<std::pair<int64_t, int64_t>> open{{from, to}};
    path.clear();
    while (!open.empty()) {
        const auto [a, b] = open.back();
        open.pop_back();
        if (const int32_t k = via[a * n + b]; k < 0) path.push_back(static_cast<int32_t>(b));
        else {
            open.push_back({k, b});
            open.push_back({a, k});
        }
        if (static_cast<int64_t>(open.size()) > n + 1 || static_cast<int64_t>(path.size()) > 4 * n) return false;
    }
    return true;
}

/// True if each vertex is further from i than its predecessor, so that the row forms a tree.
template <class T>
bool always_ascends(const T *values, const int32_t *row, int64_t n, int64_t i, Order order) {
    return with_order(order, [&]<Order o>() {
        bool found = true;
        for (int64_t j = 0; j < n; ++j) {
            const int64_t before = row[j] < 0 ? j : row[j];
            found &= is_better<o>(values[before], values[j]) | (row[j] < 0) | (row[j] == i);
        }
        return found;
    });
}

/// If cycles of weight 0 make the predecessors of row i cyclic, recompute them from paths.
bool make_tree(const int32_t *via, int64_t n, int64_t i, int32_t *row) {
    bool is_tree = true;
    std::vector<uint8_t> is_in_tree(static_cast<size_t>(n), 0);
    std::vector<int32_t> path;
    is_in_tree[i] = 1;
    for (int64_t j = 0; j < n && is_tree; ++j) {
        if (row[j] < 0) continue;
        path.clear();
        int64_t v = j;
        for (; !is_in_tree[v]; v = row[v]) {
            path.push_back(static_cast<int32_t>(v));
            if (row[v] < 0 || static_cast<int64_t>(path.size()) > n) {
                is_tree = false;
                break;
            }
        }
        for (int32_t w : path) is_in_tree[w] = 1;
    }
    if (is_tree) return true;
    is_in_tree.assign(static_cast<size_t>(n), 0);
    is_in_tree[i] = 1;
    for (int64_t j = 0; j < n; ++j) {
        if (row[j] < 0 || is_in_tree[j]) continue;
        if (!expand(via, n, i, j, path)) return false;
        int32_t before = static_cast<int32_t>(i);
        for (int32_t v : path) {
            if (!is_in_tree[v]) {
                is_in_tree[v] = 1;
                row[v] = before;
            }
            before = v;
        }
    }
    return true;
}

}  // namespace

template <class T>
bool fill_predecessors(const T *values, const int32_t *via, int64_t n, Order order, int32_t *predecessors,
                       int n_threads, const Poll &poll, bool &stopped) {
    std::atomic<bool> is_good = true;
    const auto go_on = [&](int64_t) { return !poll || poll(n); };
    stopped = !parallel(
        n_threads, (n + kColumns - 1) / kColumns, 1,
        [&](int, int64_t item) {
            const int64_t first = item * kColumns;
            if (!fill_columns(values, via, n, worst_number<T>(order), first, std::min(kColumns, n - first),
                              predecessors))
                is_good = false;
        },
        go_on);
    if (stopped || !is_good) return false;
    stopped = !parallel(
        n_threads, n, 16,
        [&](int, int64_t i) {
            int32_t *const row = predecessors + i * n;
            if (!always_ascends(values + i * n, row, n, i, order) && !make_tree(via, n, i, row)) is_good = false;
        },
        go_on);
    return !stopped && is_good;
}

std::vector<int32_t> cycle_through(const int32_t *via, int64_t n, int64_t vertex) {
    std::vector<int32_t> path, simple{static_cast<int32_t>(vertex)};
    if (via[vertex * n + vertex] < 0 || !expand(via, n, vertex, vertex, path)) return simple;
    path.pop_back();          // the vertex again
    for (int32_t v : path) {  // a cycle inside the cycle is left out: it is not negative
        const auto again = std::find(simple.begin(), simple.end(), v);
        if (again == simple.end()) simple.push_back(v);
        else simple.erase(again + 1, simple.end());
    }
    return simple;
}

#define TROPALIGN_PREDECESSORS(T)                                                                                \
    template bool fill_predecessors<T>(const T *, const int32_t *, int64_t, Order, int32_t *, int, const Poll &, \
                                       bool &);
TROPALIGN_PREDECESSORS(float)
TROPALIGN_PREDECESSORS(double)
TROPALIGN_PREDECESSORS(int32_t)
TROPALIGN_PREDECESSORS(int16_t)
#undef TROPALIGN_PREDECESSORS

}  // namespace tropalign
