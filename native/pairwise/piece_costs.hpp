// Gap costs beyond one affine cost: two pieces, and different costs for the gaps at the ends of the sequences.
#pragma once
#include <algorithm>
#include <cstdint>

#include "scoring.hpp"

namespace tropalign {

/// An affine cost: open + k * extend for k residues.
struct GapPiece {
    int32_t open, extend;
};

/// A gap costs the lesser of two pieces (the same one twice if it has one). A gap before the first or after the
/// last residue of the sequence that it is in costs the lesser of `ends`.
struct PieceCosts {
    GapPiece inner[2], ends[2];

    static bool is_one(const GapPiece (&pieces)[2]) {
        return pieces[0].open == pieces[1].open && pieces[0].extend == pieces[1].extend;
    }
    bool two_pieces() const { return !is_one(inner) || !is_one(ends); }
    bool other_ends() const {
        for (int p = 0; p < 2; ++p)
            if (inner[p].open != ends[p].open || inner[p].extend != ends[p].extend) return true;
        return false;
    }
    int64_t most_open() const { return std::max({inner[0].open, inner[1].open, ends[0].open, ends[1].open}); }
    int64_t most_extend() const { return std::max({inner[0].extend, inner[1].extend, ends[0].extend, ends[1].extend}); }
};

/// Scoring of pairs with gap costs that the other engines do not support.
struct PieceScoring {
    Mode mode;
    OrientedScoring letters;  // with Mode::local, in which steps are the scores themselves
    PieceCosts costs;
};

/// Return the cost of a gap of k residues.
inline int64_t cost_of(const GapPiece (&pieces)[2], int64_t k) {
    return std::min(pieces[0].open + k * pieces[0].extend, pieces[1].open + k * pieces[1].extend);
}

}  // namespace tropalign
