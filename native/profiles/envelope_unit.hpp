// The memory of a unit of envelopes, as used by kernels of N lanes.
#pragma once
#include "envelope_kernels.hpp"
#include "model_quads.hpp"
#include "row_limits.hpp"

namespace tropalign::TROPALIGN_ISA {

/// Prefetch M and I of a quad that are needed a row later. Rows are too long for the hardware prefetcher: without this,
/// units of 16 MiB and more take twice the time.
template <int N>
[[gnu::always_inline]] inline void expect(const float *cells) {
    for (int at = 0; at < 8 * N; at += 16) __builtin_prefetch(cells + at);
}

template <int N>
struct UnitMemory {
    using V = QuadLanes<N>;
    static constexpr int kWidth = 4 * N;
    static constexpr uint32_t kAllFloats = (1u << 4 * N) - 1;

    EnvelopeUnit &unit;
    const int64_t Q = unit.tables->Q;
    const int32_t n_rows = unit.n_rows;
    const ModelQuads<N> model{*unit.tables};

    explicit UnitMemory(EnvelopeUnit &given) : unit(given) {}

    float *cells(int32_t row) const { return unit.cells + row * Q * 2 * kWidth; }
    float *work(int k) const { return unit.rows + k * Q * kWidth; }
    float *special(int32_t row, LaneSpecial s) const {
        return unit.specials + (static_cast<int64_t>(row) * kLaneSpecials + s) * kWidth;
    }

    int32_t begin(int lane) const { return lane < unit.n_lanes ? n_rows - unit.lanes[lane].L : n_rows; }

    /// Return the odds of each lane's residue in a row; zeros if it is idle.
    LaneOdds<N> odds_of_row(int32_t row) const {
        constexpr uint8_t gap = kResidues;
        LaneOdds<N> odds;
        for (int k = 0; k < N; ++k) {
            const int32_t residue = row - 1 - begin(k);
            odds.lanes[k] = unit.tables->odds_of(residue >= 0 ? unit.lanes[k].codes[residue] : gap);
        }
        return odds;
    }

    /// Return a vector with a number of each lane in its four positions.
    template <class Of>
    V of_lanes(Of of) const {
        alignas(64) float floats[kWidth] = {};
        for (int k = 0; k < N && k < unit.n_lanes; ++k)
            for (int r = 0; r < 4; ++r) floats[4 * k + r] = of(unit.lanes[k]);
        return lanes_at<N>(floats);
    }

    static V with_lane(V v, int lane, float x) {
        alignas(64) float floats[kWidth];
        put<N>(floats, v);
        for (int r = 0; r < 4; ++r) floats[4 * lane + r] = x;
        return lanes_at<N>(floats);
    }
    static float of_lane(V v, int lane) {
        alignas(64) float floats[kWidth];
        put<N>(floats, v);
        return floats[4 * lane];
    }

    static V choose(uint32_t bits, V yes, V no) {
        return (V)((Vec<int32_t, 16 * N>)where_bits<N>(bits, yes) |
                   (Vec<int32_t, 16 * N>)where_bits<N>(~bits & kAllFloats, no));
    }
};

}  // namespace tropalign::TROPALIGN_ISA
