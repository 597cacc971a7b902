// A row of Forward whose cells are kept:
//
//     M(i, k) = odds(x_i, k) (B(i-1) BM + M(i-1, k-1) MM + I(i-1, k-1) IM + D(i-1, k-1) DM)
//     I(i, k) = M(i-1, k) MI + I(i-1, k) II
//     D(i, k) = M(i, k-1) MD + D(i, k-1) DD
//
// in HMMER's order of operations. Nodes are striped (float_tables.hpp), so D first runs along each quarter of the
// model, then on into the next quarters. The M of the last nodes of quarters are computed ahead, so that D's pass can
// start together with that of M and I. (The parser, whose rows replace each other, has groups of vectors:
// forward_parser.hpp.)
#pragma once
#include <algorithm>

#include "model_quads.hpp"
#include "row_limits.hpp"

namespace tropalign::TROPALIGN_ISA {

/// Location of a row's D: quad q starts at `first + q * stride`.
struct DeleteRow {
    float *first;
    int64_t stride;

    [[gnu::always_inline]] float *at(int64_t q) const { return first + q * stride; }
};

/// Add D -> D from one quarter of the model into the next ones. For models of 100 nodes or more, a lane stops
/// after a pass that did not change any of its cells.
template <int N>
void more_deletes(const FloatTables &tables, DeleteRow deletes, QuadLanes<N> way) {
    using V = QuadLanes<N>;
    const ModelQuads<N> model(tables);
    const int64_t Q = tables.Q;
    for (int pass = 1; pass < kQuad; ++pass) {
        way = up<N>(way);
        uint32_t changed = 0;
        for (int64_t q = 0; q < Q;) {
            V added{}, sum{};
            for (const int64_t stop = std::min(Q, q + 8); q < stop; ++q) {
                const V had = lanes_at<N>(deletes.at(q));
                added = way, sum = way + had;
                changed |= floats_above<N>(sum, had);
                put<N>(deletes.at(q), sum);
                way = way * model(q, kDD);
            }
            if (!floats_above<N>(added * kNegligible, sum)) return;
        }
        if (tables.M < 100) continue;
        changed |= changed >> 1, changed |= changed >> 2;
        changed = (changed & 0x1111) * 15;
        if (!changed) return;
        way = where_bits<N>(changed, way);
    }
}

/// Fill a row; return the sum over its M and D. `cells` has M(q), I(q) and D(q) of the row before, deletes() of
/// this one, and set(q, M, I) for this one; the D of both rows may be in the same memory.
template <int N, class Cells>
[[gnu::always_inline]] inline QuadLanes<N> forward_row(const FloatTables &tables, const LaneOdds<N> odds,
                                                       const QuadLanes<N> B, const Cells cells) {
    using V = QuadLanes<N>;
    const ModelQuads<N> model(tables);
    const int64_t Q = tables.Q;
    const DeleteRow deletes = cells.deletes();
    const auto match = [&](int64_t q, V M, V I, V D) {
        V sum = B * model(q, kBM);
        sum = sum + M * model(q, kMM);
        sum = sum + I * model(q, kIM);
        sum = sum + D * model(q, kDM);
        return sum * odds(q);
    };
    V D = up<N>(match(Q - 1, cells.M(Q - 2), cells.I(Q - 2), cells.D(Q - 2)) * model(Q - 1, kMD));
    V M_before = up<N>(cells.M(Q - 1)), I_before = up<N>(cells.I(Q - 1)), D_before = up<N>(cells.D(Q - 1));
    V ends{}, way{};
    for (int64_t q = 0; q < Q; ++q) {
        const V M = match(q, M_before, I_before, D_before);
        ends = ends + M;
        M_before = cells.M(q), I_before = cells.I(q), D_before = cells.D(q);
        cells.set(q, M, M_before * model(q, kMI) + I_before * model(q, kII));
        put<N>(deletes.at(q), D);
        way = D * model(q, kDD);
        D = way + M * model(q, kMD);
    }
    more_deletes<N>(tables, deletes, way);
    for (int64_t q = 0; q < Q; ++q) ends = ends + lanes_at<N>(deletes.at(q));
    return sum_of_quads<N>(ends);
}

}  // namespace tropalign::TROPALIGN_ISA
