#include "path_masks.hpp"

#include "search_model.hpp"

namespace tropalign {
namespace {

PathMasks make_path_masks(const FloatTables &tables) {
    const auto n = static_cast<size_t>(tables.Q);
    PathMasks made{Buffer<uint32_t>(n * PathMasks::kMasks * kQuad), Buffer<uint8_t>(n)};
    uint32_t open[kQuad] = {~0u, ~0u, ~0u, ~0u};
    for (size_t q = 0; q < n; ++q) {
        bool all = true;
        for (int which = 0; which < PathMasks::kMasks; ++which)
            for (int r = 0; r < kQuad; ++r) {
                const float odds = which == kDD ? tables.deletes.data()[q * kQuad + r]
                                                : tables.transitions.data()[(q * kDD + which) * kQuad + r];
                const uint32_t mask = which == PathMasks::kOpen ? open[r] : odds > 0 ? ~0u : 0;
                made.masks[(q * PathMasks::kMasks + which) * kQuad + r] = mask;
                all &= mask != 0;
            }
        made.all_pass[q] = all;
        for (int r = 0; r < kQuad; ++r) open[r] &= made.masks[(q * PathMasks::kMasks + kDD) * kQuad + r];
    }
    return made;
}

}  // namespace

const PathMasks &SearchModel::path_masks() const {
    return path_masks_.get([&] { return make_path_masks(floats()); });
}

}  // namespace tropalign
