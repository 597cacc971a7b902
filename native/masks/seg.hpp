// SEG (Wootton and Federhen 1993, 1996): segments of proteins in which few residues are frequent.
#pragma once
#include "intervals.hpp"

namespace tropalign {

struct SegRule {
    int window;        ///< residues over which entropies are taken
    double low, high;  ///< bits: a window of no more than `low` begins a segment, which reaches as far as `high`
};
constexpr int kMostSegWindow = 1 << 12;

/// Return the segments of a sequence of codes, of which those below 20 are amino acids; segments that overlap or
/// touch are merged.
Intervals seg(const uint8_t *codes, int64_t n, SegRule rule);

}  // namespace tropalign
