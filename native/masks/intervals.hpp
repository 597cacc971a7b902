// Intervals of a sequence, for masks.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

namespace tropalign {

/// Residues [begin, end).
struct Interval {
    int64_t begin, end;
};
using Intervals = std::vector<Interval>;

/// Add an interval that does not start after the end of the last ones; those that it overlaps or touches are
/// merged with it.
inline void unite(Intervals &found, Interval added) {
    while (!found.empty() && found.back().end >= added.begin) {
        added = {std::min(added.begin, found.back().begin), std::max(added.end, found.back().end)};
        found.pop_back();
    }
    found.push_back(added);
}

}  // namespace tropalign
