// Forward over a part of a target with every row kept: what stochastic traces walk through. HMMER 3.4's numbers to the
// last bit, as in parsers.hpp.
#pragma once
#include <cstdint>
#include <vector>

#include "parsers.hpp"

namespace tropalign {

/// What a row beyond this is divided by its sum for.
inline constexpr float kHighRow = 1.0e4f;

/// The transitions of the special states, in a mode and for the length of a whole target.
struct ModeOdds {
    float loop, move;          ///< N -> N, C -> C, J -> J; N -> B, C -> T, J -> B.
    float end_move, end_loop;  ///< E -> C, E -> J
};
/// Any number of domains; one.
ModeOdds multihit_odds(int32_t L);
ModeOdds unihit_odds(int32_t L);

/// Rows 0 (before the first residue) to L. Each row, its special states included, is divided by its factor kScale and
/// by those of the rows before it.
struct FullMatrix {
    enum Cell { kM, kD, kI, kCells };

    int32_t L = 0, Q = 0;
    std::vector<float> cells;     ///< [L + 1][Q][kCells][kQuad]; nodes as in float_tables.hpp.
    std::vector<float> specials;  ///< [L + 1][kSpecials]
    float nats = 0;

    const float *row(int32_t i) const { return cells.data() + static_cast<size_t>(i) * Q * kCells * 4; }
    const float *special(int32_t i) const { return specials.data() + static_cast<size_t>(i) * kSpecials; }

    /// What `cells` and `specials` take.
    static size_t bytes(int32_t M, int32_t L);
};

/// Residues codes[0 .. L) of a target, whose whole length the odds are for. The matrix's memory is used again.
void forward_matrix(const SearchModel &model, const uint8_t *codes, int32_t L, const ModeOdds &odds, FullMatrix &out);

}  // namespace tropalign
