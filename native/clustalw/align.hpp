// The best alignment of two profiles with costs that depend on the column.
#pragma once
#include <functional>

#include "profiles.hpp"

namespace tropalign {

/// Align by Gotoh's recurrence over columns i of the first and j of the second profile, from 1:
///
///     E(i, j) = max(H(i-1, j) - open1(i) - open2(j), E(i-1, j)) - extend1(i)     a gap in the second
///     F(i, j) = max(H(i, j-1) - open1(i) - open2(j), F(i, j-1)) - extend2(j)     a gap in the first
///     H(i, j) = max(H(i-1, j-1) + score(i, j), F(i, j), E(i, j))
///
/// Unless has_end_gaps is set, gaps in the second are free at columns 0 and n of the second, and gaps in the first
/// at those of the first. With X(j) = extend2(1) + ... + extend2(j), F is a running maximum along the row, so that
/// a vector of columns is computed at a time:
///
///     F(i, j) = max over k < j of (H(i, k) + X(k) - open2(k + 1)) - X(j) - open1(i)
///
/// Ties in the traceback: a column of both comes before a gap in the first, and a gap in the first before one in the
/// second; a gap is extended rather than opened.
///
/// Steps are stored as bits, half a byte per pair of columns. If that is more than `most_step_bytes`, only some
/// rows are kept, and the rows between them are computed again during the traceback.
///
/// `is_stopped` is called every few rows; the result is invalid once it has returned true. Throws
/// std::length_error if scores may exceed 32 bits.
std::vector<MergeStep> align_by_rows(const ProfilePair &pair, size_t most_step_bytes,
                                     const std::function<bool()> &is_stopped);

// The alignment of two profiles that CLUSTALW 2.1 finds among alignments of equal score.

/// Align by divide and conquer in linear space (Myers and Miller 1988, CABIOS 4, 11), halving the first profile,
/// with costs that depend on the column. The choice among several best alignments depends on the halving and on
/// the order of comparisons, so both are part of the result. `is_stopped` is called every few rows; the result is
/// invalid once it has returned true.
std::vector<MergeStep> align_by_halves(const ProfilePair &pair, const std::function<bool()> &is_stopped);

}  // namespace tropalign
