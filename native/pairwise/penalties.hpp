// Scores as penalties, for two sequences whose letters score one number with themselves and another with each other.
//
// An alignment of m residues of the rows and n of the columns, whose gaps hold f of the rows and e of the columns,
// pairs m - f = n - e residues. So with u + v = match
//
//     match * pairs = u (n - e) + v (m - f)
//     score = u n + v m - [(match - mismatch) * mismatches + open * gaps + (extend + u) e + (extend + v) f]
//
// and the best alignment is the one of the lowest penalty [...], in which a match costs nothing (after Eizenga and
// Paten 2022; their u = v = match / 2 needs all of it doubled). Penalties are whole numbers and as small as can be: u
// is near match / 2, so that all of them have the divisor that `match - mismatch`, `open` and `2 extend + match` have
// in common.
#pragma once
#include <numeric>

#include "scoring.hpp"

namespace tropalign {

struct Penalties {
    int64_t mismatch, open, column, row;  // a mismatch, a gap, each residue of a gap of the columns' or the rows'
    int64_t divisor;                      // by which they were divided
    int64_t per_column, per_row;          // u and v

    explicit Penalties(const Scoring &scoring) {
        const int64_t both = 2 * int64_t{scoring.extend} + scoring.match;
        mismatch = int64_t{scoring.match} - scoring.mismatch;
        open = scoring.open;
        divisor = std::max<int64_t>(1, std::gcd(std::gcd(mismatch, open), both));
        mismatch /= divisor, open /= divisor;
        column = (both / divisor + 1) / 2, row = both / divisor - column;
        per_column = divisor * column - scoring.extend, per_row = divisor * row - scoring.extend;
    }

    /// Whether each residue of a gap costs something, and so does a mismatch.
    bool all_cost() const { return mismatch > 0 && column > 0 && row > 0; }

    /// The score of m residues of the rows against n of the columns at that penalty.
    int32_t score(int64_t m, int64_t n, int64_t penalty) const {
        return static_cast<int32_t>(per_column * n + per_row * m - divisor * penalty);
    }
};

}  // namespace tropalign
