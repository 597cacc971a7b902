// Four floats in HMMER's order, and the order in which it sums them: for whatever is computed one target at a time.
#pragma once
#include <cstdint>

namespace tropalign {

using Quad = float __attribute__((vector_size(16), aligned(4), may_alias));

inline Quad quad_at(const float *p) { return *reinterpret_cast<const Quad *>(p); }
inline Quad every_float(float x) { return Quad{x, x, x, x}; }

/// Each float one place further, a zero in the first.
inline Quad up(Quad v) { return Quad{0, v[0], v[1], v[2]}; }
/// Each float one place back, a zero in the last.
inline Quad down(Quad v) { return Quad{v[1], v[2], v[3], 0}; }

inline float sum_of(Quad v) {
    v = v + Quad{v[1], v[2], v[3], v[0]};
    v = v + Quad{v[2], v[3], v[0], v[1]};
    return v[0];
}

inline bool any_above(Quad a, Quad b) {
    const auto above = a > b;
    return (above[0] | above[1] | above[2] | above[3]) != 0;
}

}  // namespace tropalign
