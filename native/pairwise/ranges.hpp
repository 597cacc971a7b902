// Which scorings lanes of a given number of bits can hold.
#pragma once
#include <cstdint>

#include "scoring.hpp"

namespace tropalign {

/// Numbers of the local form, which keeps H + floor: `floor` stands for the zero of the local mode.
///
///     least ........ floor ................ limit ........ most        of the number format
///       | open + 2 extend |   scores, right   | highest s  |
///
/// * Nothing may wrap round below. From H = 0 a gap is opened (- open - extend), and extended once more before the
///   maximum is taken (- extend), or the worst letter is added: floor lies above `least` by the greater of the two.
/// * H may wrap round above, but only from a cell that already scores more than most - highest s. So a best score up to
///   `limit` is right, and one above may be wrong: such a pair is aligned again with wider lanes.
struct LocalRange {
    int64_t floor, limit;

    /// Worth a try: most random pairs score less than this.
    bool usable() const { return limit - floor >= 64; }
};
LocalRange local_range(const Scoring &, int bits);

/// Whether lanes of that many bits hold the scoring at all: in local mode a range of scores that is worth a try, in
/// global mode every difference between neighbouring cells (sweep.hpp), at any length.
bool fits(const Scoring &, int bits);

/// The highest score that lanes of that many bits hold; kAnyScore where they hold all, as only differences are kept.
inline constexpr int64_t kAnyScore = INT64_MAX;
int64_t most_score(const Scoring &, int bits);

/// The bits, of those that fit, that a local score of a pair whose shorter sequence has `length` residues may need.
int bits_at_most(const Scoring &, int64_t length);

}  // namespace tropalign
