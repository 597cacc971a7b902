// Parts of a sequence, as masks have them.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

namespace tropalign {

/// Letters from `begin` to before `end`.
struct Interval {
    int64_t begin, end;
};
using Intervals = std::vector<Interval>;

/// Adds one that begins before the ends of the last ones at the most; those that it overlaps or touches become one
/// with it.
inline void unite(Intervals &found, Interval added) {
    while (!found.empty() && found.back().end >= added.begin) {
        added = {std::min(added.begin, found.back().begin), std::max(added.end, found.back().end)};
        found.pop_back();
    }
    found.push_back(added);
}

}  // namespace tropalign
