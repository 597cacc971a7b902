// The values of a striped model (float_tables.hpp) that sweeps read, in vectors of N targets.
//
// Sweeps hold these, and pointers to their cells, in local variables: if they were members, the compiler would assume
// that every store may change them. Forward's sweep then had 130 instructions per quad of four targets; now it has 72.
#pragma once
#include "../simd/quad_lanes.hpp"
#include "float_tables.hpp"

namespace tropalign::TROPALIGN_ISA {

/// A model's transitions.
template <int N>
struct ModelQuads {
    const float *transitions, *deletes;

    explicit ModelQuads(const FloatTables &tables)
        : transitions(tables.transitions.data()), deletes(tables.deletes.data()) {}

    [[gnu::always_inline]] QuadLanes<N> operator()(int64_t q, Transition t) const {
        return same_quads<N>(t == kDD ? deletes + q * kQuad : transitions + (q * kDD + t) * kQuad);
    }
};

/// The odds of each lane's residue in a row.
template <int N>
struct LaneOdds {
    const float *lanes[N];

    [[gnu::always_inline]] QuadLanes<N> operator()(int64_t q) const { return own_quads<N>(lanes, q * kQuad); }
};

}  // namespace tropalign::TROPALIGN_ISA
