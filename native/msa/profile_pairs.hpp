// Two profiles, or a profile and a sequence, aligned by the recurrences of Hanif 2014, chapter 4:
//
//     profiles              S(i, j) = min(S(i-1, j-1) + d(p_i, q_j),
//                                         S(i-1, j) + d(p_i, blank), S(i, j-1) + d(blank, q_j))
//     profile and sequence  S(i, j) = max(S(i-1, j-1) + w(p_i, b_j),
//                                         S(i-1, j) + w(p_i, blank), S(i, j-1) + w(blank, b_j))
//
// A step to the side costs the same at every position, so that both are the recurrence of column_path.hpp: start
// with the cost of all columns alone, and maximise what pairs of columns save (or gain),
//
//     P(i, j) = d(p_i, blank) + d(blank, q_j) - d(p_i, q_j),      P(i, j) = w(p_i, b_j) - w(p_i, blank) - w(blank, b_j)
//
// P is rounded to multiples of 2^-shift, as small as sums in 31 bits allow: the same path on every processor.
#pragma once
#include <cstdint>

#include "column_path.hpp"

namespace tropalign {

// The kernel of a row of distances, and the table of it that every instruction set fills.

/// A column of the first profile: its shares, the sum of their squares, its distance from the blank.
struct DistanceRow {
    const double *shares;
    int64_t n_letters;
    double square, to_blank;
};

/// The columns of the second profile, a whole number of blocks (column_path.hpp): shares[letter][column].
struct DistanceColumns {
    const double *shares, *squares, *to_blank;
    int64_t n_columns;
};

struct DistanceKernels {
    const char *isa;
    /// Writes savings[j] = (d(p, blank) + d(blank, q_j) - d(p, q_j)) unit, rounded to nearest, halves up.
    /// Distances by |p - q|^2 = |p|^2 + |q|^2 - 2 p q: residues that p lacks cost nothing.
    void (*savings)(const DistanceRow &row, const DistanceColumns &columns, double unit, int32_t *savings);
};

/// Return the table of the chosen instruction set.
const DistanceKernels *selected_distance_kernels();

/// Columns of a profile: shares of residues, the blank's share last.
struct ProfileColumns {
    const double *shares;  // [n_columns][n_letters]
    int64_t n_columns;
    int64_t n_letters;
};

/// Align two profiles with the smallest total of Euclidean distances between columns. `first` and `second` have
/// the same residues.
MergedColumns align_profiles(const ProfileColumns &first, const ProfileColumns &second, const Watch &watch);

/// Align a profile with a sequence, with the largest total of scores of columns with residues: scores[a][b] of
/// residues, the blank last; w(p_i, b) is the mean of scores[a][b] by the shares of column i.
MergedColumns align_profile_to_sequence(const ProfileColumns &profile, const uint8_t *codes, int64_t length,
                                        const double *scores, const Watch &watch);

}  // namespace tropalign
