// Checks of arguments, which native code trusts: one pass over offsets, indices and codes, in loops that the
// compiler vectorizes. An argument that fails gives a ValueError with its name.
//
// An array is checked when the call starts. This does not guard an array that another thread writes to during the
// call; if a binding works on a copy (the codes and offsets of align_pairs), the copy is checked.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "python.hpp"

namespace tropalign {

[[noreturn]] inline void refuse(const std::string &what) { throw nb::value_error(what.c_str()); }

inline void require(bool good, const char *what) {
    if (!good) refuse(what);
}

inline void require_threads(int n_threads) { require(n_threads >= 1, "n_threads: below 1"); }

inline void require_progress(const Progress &progress) {
    if (!progress.is_none() && !PyCallable_Check(progress.ptr())) throw nb::type_error("progress: not callable");
}

/// Refuse offsets that are not ascending, or not within `size` items. Offsets may leave out items at either end.
inline void require_offsets(const int64_t *offsets, int64_t n_entries, int64_t size, const char *name) {
    if (n_entries < 1) refuse(std::string(name) + ": empty, but must have one entry more than there are parts");
    bool descends = false;
    for (int64_t k = 1; k < n_entries; ++k) descends |= offsets[k - 1] > offsets[k];
    if (descends) refuse(std::string(name) + ": offsets descend");
    if (offsets[0] < 0 || offsets[n_entries - 1] > size) refuse(std::string(name) + ": offsets reach beyond the data");
}

/// Return the length of the longest sequence that the offsets define; refuse 2^31 or more.
inline int64_t longest_of(const int64_t *offsets, int64_t n_entries, const char *name) {
    int64_t longest = 0;
    for (int64_t k = 1; k < n_entries; ++k) longest = std::max(longest, offsets[k] - offsets[k - 1]);
    if (longest > INT32_MAX) refuse(std::string(name) + ": a sequence is longer than 2147483647");
    return longest;
}

inline void require_no_empty(const int64_t *offsets, int64_t n_entries, const char *name) {
    bool any_empty = false;
    for (int64_t k = 1; k < n_entries; ++k) any_empty |= offsets[k - 1] == offsets[k];
    if (any_empty) refuse(std::string(name) + ": a sequence is empty");
}

/// Refuse numbers outside [0, n).
template <class T>
void require_below(const T *values, size_t count, int64_t n, const char *name) {
    // A number is out of range if it or n - 1 - number is negative. Collect signs, because SSE2 lacks comparisons of 64
    // bits.
    uint64_t signs = 0;
    for (size_t k = 0; k < count; ++k) {
        const auto value = static_cast<uint64_t>(static_cast<int64_t>(values[k]));
        signs |= value | (static_cast<uint64_t>(n) - 1 - value);
    }
    if (count && signs >> 63) refuse(std::string(name) + ": a number is outside of 0 to " + std::to_string(n - 1));
}

inline void require_codes(const uint8_t *codes, size_t count, int n_codes, const char *name) {
    uint8_t highest = 0;
    for (size_t k = 0; k < count; ++k) highest = std::max(highest, codes[k]);
    if (count && highest >= n_codes)
        refuse(std::string(name) + ": code " + std::to_string(highest) + " is beyond the alphabet of " +
               std::to_string(n_codes));
}

using Children = std::array<int32_t, 2>;
static_assert(sizeof(Children) == 2 * sizeof(int32_t));

/// Check a tree of n leaves: each node is the child of one node above it.
inline const Children *require_children(const Array<int32_t, 2> &children, int64_t n) {
    require(children.shape(1) == 2 && static_cast<int64_t>(children.shape(0)) == n - 1,
            "children: must be two per inner node, with one inner node fewer than leaves");
    const auto *pairs = reinterpret_cast<const Children *>(children.data());
    std::vector<uint8_t> is_child(2 * static_cast<size_t>(n) - 1, 0);
    for (int64_t k = 0; k < n - 1; ++k)
        for (int32_t child : pairs[k]) {
            require(child >= 0 && child < n + k, "children: a node is not below its parent");
            require(!is_child[child], "children: a node is the child of two");
            is_child[child] = 1;
        }
    return pairs;
}

}  // namespace tropalign
