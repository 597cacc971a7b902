// Thresholds for scaling rows of Forward and Backward, and for following deletions.
//
// HMMER follows D -> D in up to four passes over the stripes of a model: the first one adds up D along each
// quarter of the nodes, each later one carries the values that leave a quarter on through the next. The value
// carried in pass j, way, decays with the odds of D -> D that it meets:
//
//     way(k + 1) = way(k) DD(k)                 D(k + 1) = D(k) DD(k) + what enters here >= D(k) DD(k)
//
// So once way is below 2^-27 of D, it stays so for the rest of this pass and of all later ones, except for
// roundings of 2^-24 per node, a factor below 2 for a million nodes. Adding less than 2^-25 of a float does not change
// it, so the omitted terms would have changed nothing. (A way that underflows to zero adds nothing either.) This holds
// for passes after the first one, in which D is added up, and in Backward with nodes from the last to the first.
#pragma once

namespace tropalign {

/// A row whose sum exceeds this is divided by it.
inline constexpr float kHighRow = 1.0e4f;
/// From here on Backward's rows are divided by their own sums instead of Forward's: the first float above 10^16.
inline constexpr float kFarHigher = 1.0e16f;
/// A path is abandoned if its value times this factor is at most D.
inline constexpr float kNegligible = 0x1p27f;

}  // namespace tropalign
