// Lanes of 8, then 16, then 32 bits: a unit is run with the narrowest lanes that hold the scoring; lanes that
// saturate run again with the next width.
#pragma once
#include <algorithm>

#include "ranges.hpp"
#include "scoring.hpp"

namespace tropalign {

/// Run the unit with kernels.lanes[width] or, if these cannot hold the scoring, with later ones. keep(lane,
/// result) is called once per lane, as soon as its result is known. Returns how many lanes saturated in the first width
/// that was tried.
template <class Keep>
int run_widths(const Kernels &kernels, const Scoring &scoring, const Unit &unit, int width, UnitScratch &scratch,
               Keep keep) {
    int lane[kMaxLanes], n_left = unit.n_lanes, n_saturated = -1;
    for (int l = 0; l < n_left; ++l) lane[l] = l;
    for (; n_left > 0; ++width) {
        if (width + 1 < kLaneWidths && !fits(scoring, kernels.lanes[width]->bits)) continue;
        const int most = kernels.vector_bytes * 8 / kernels.lanes[width]->bits;
        int n_again = 0;
        for (int from = 0; from < n_left; from += most) {
            Unit part;
            part.n_lanes = std::min(most, n_left - from);
            part.shared_rows = unit.shared_rows, part.mirrored = unit.mirrored;
            LaneResult result[kMaxLanes];
            for (int l = 0; l < part.n_lanes; ++l) part.lane[l] = unit.lane[lane[from + l]];
            kernels.lanes[width]->run(scoring, part, scratch, result);
            for (int l = 0; l < part.n_lanes; ++l) {
                if (result[l].saturated) lane[n_again++] = lane[from + l];
                else keep(lane[from + l], result[l]);
            }
        }
        if (n_saturated < 0) n_saturated = n_again;
        n_left = n_again;
    }
    return n_saturated;
}

}  // namespace tropalign
