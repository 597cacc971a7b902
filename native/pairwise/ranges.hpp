// The scorings that lanes of a given number of bits can hold.
#pragma once
#include <cstdint>

#include "scoring.hpp"

namespace tropalign {

/// Range of the local form, which keeps H + floor: `floor` represents the zero of the local mode.
///
///     least ........ floor ................ limit ........ most        of the number format
///       | open + 2 extend |  scores, correct  | highest s  |
///
/// * No value may wrap round below. From H = 0 a gap is opened (- open - extend), and extended once more before
///   the
///   maximum is taken (- extend), or the worst residue pair is added: floor exceeds `least` by the greater of the two.
/// * H may wrap round above, but only from a cell that already scores more than most - highest s. So a best score
///   up to
///   `limit` is correct, and one above may be wrong: such a pair is aligned again with wider lanes.
struct LocalRange {
    int64_t floor, limit;

    /// True if an attempt is worthwhile: most random pairs score less than 64.
    bool usable() const { return limit - floor >= 64; }
};
LocalRange local_range(const Scoring &, int bits);

/// True if lanes of this many bits hold the scoring: in local mode a range of scores that is worth an attempt, in
/// global mode every difference between neighbouring cells (sweep.hpp), at any length.
bool fits(const Scoring &, int bits);

/// The highest score that lanes of this many bits hold; kAnyScore if they hold all, as only differences are kept.
inline constexpr int64_t kAnyScore = INT64_MAX;
int64_t most_score(const Scoring &, int bits);

/// Return the number of bits, among those that fit, that a local score may need if the shorter sequence has
/// `length` residues.
int bits_at_most(const Scoring &, int64_t length);

}  // namespace tropalign
