// A model's odds and transitions in the layout of Forward, Backward and later stages: striped over four floats, in
// HMMER's order, so that sums are computed in its order. With Q quads, node k is float (k - 1) / Q of quad (k - 1)
// % Q:
//
//     M = 10, Q = 3      quad 0       quad 1       quad 2
//                        1 4 7 10     2 5 8 -      3 6 9 -
//
// The neighbour of a node is in the next quad; for the last quad it is in the first, one float further.
#pragma once
#include <cstdint>

#include "../compute/buffer.hpp"
#include "model.hpp"

namespace tropalign {

inline constexpr int kQuad = 4;

struct FloatTables {
    int32_t M = 0;
    int32_t Q = 0;              ///< Quads: two at least, as in HMMER.
    Buffer<float> transitions;  ///< [Q][kDD][kQuad]: all but D -> D, in the order of enum Transition.
    Buffer<float> deletes;      ///< [Q][kQuad]: D -> D, from the node.
    Buffer<float> match_odds;   ///< [kCodes][Q][kQuad]
    // Floats without a node are zero.

    const float *odds_of(uint8_t code) const {
        return static_cast<const float *>(match_odds.data()) + static_cast<size_t>(code) * Q * kQuad;
    }
};

FloatTables make_float_tables(const ProfileModel &model);

}  // namespace tropalign
