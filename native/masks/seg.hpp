// SEG (Wootton and Federhen 1993, 1996): segments of proteins in which few residues are frequent.
#pragma once
#include "intervals.hpp"

namespace tropalign {

struct SegRule {
    int window;        ///< length of a window in residues
    double low, high;  ///< bits: windows of at most `low` start a segment, those of at most `high` extend it
};
constexpr int kMostSegWindow = 1 << 12;

/// Return the segments of a sequence of codes, where codes below 20 are amino acids. Segments that overlap or touch are
/// merged.
Intervals seg(const uint8_t *codes, int64_t n, SegRule rule);

}  // namespace tropalign
