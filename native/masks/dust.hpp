// Symmetric DUST (Morgulis, Gertz, Schaffer, Agarwala 2006): intervals of nucleotides in which triplets repeat.
//
// An interval of l + 1 triplets, c_t of them the triplet t, scores sum c_t (c_t - 1) / 2 / l. It is perfect if it
// scores more than a threshold, and no part of it scores more than it does. The union of perfect intervals is masked.
#pragma once
#include "intervals.hpp"

namespace tropalign {

struct DustRule {
    int window;  ///< maximum length of an interval, in residues
    int level;   ///< ten times the threshold
};
constexpr int kMostDustWindow = 1 << 12;

/// Return the intervals of a sequence of codes; 0 to 3 are A, C, G, T, and others end a piece of sequence.
Intervals dust(const uint8_t *codes, int64_t n, DustRule rule);

}  // namespace tropalign
