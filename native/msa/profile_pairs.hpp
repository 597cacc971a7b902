// Two profiles, or a profile and a sequence, aligned by the recurrences of Hanif 2014, chapter 4:
//
//     profiles              S(i, j) = min(S(i-1, j-1) + d(p_i, q_j), S(i-1, j) + d(p_i, blank), S(i, j-1) + d(blank,
//     q_j)) profile and sequence  S(i, j) = max(S(i-1, j-1) + w(p_i, b_j), S(i-1, j) + w(p_i, blank), S(i, j-1) +
//     w(blank, b_j))
//
// A step to the side costs the same wherever it is taken, so that both are the recurrence of column_path.hpp: take what
// all columns cost where each stands by itself, and look for the most that columns save (or gain) together,
//
//     P(i, j) = d(p_i, blank) + d(blank, q_j) - d(p_i, q_j),      P(i, j) = w(p_i, b_j) - w(p_i, blank) - w(blank, b_j)
//
// P is rounded to whole numbers of 2^-shift, as small as sums in 31 bits allow: the same path on every processor.
#pragma once
#include <cstdint>

#include "column_path.hpp"

namespace tropalign {

// What the kernel of a row of distances does, and the table of it that every instruction set fills.

/// A column of the first profile: its shares, the sum of their squares, its distance from the blank.
struct DistanceRow {
    const double *shares;
    int64_t n_letters;
    double square, to_blank;
};

/// The columns of the second one, a whole number of blocks (column_path.hpp): shares[letter][column].
struct DistanceColumns {
    const double *shares, *squares, *to_blank;
    int64_t n_columns;
};

struct DistanceKernels {
    const char *isa;
    /// savings[j] = (d(p, blank) + d(blank, q_j) - d(p, q_j)) unit, rounded to nearest, halves up. Distances by
    /// |p - q|^2 = |p|^2 + |q|^2 - 2 p q: letters that p lacks cost nothing.
    void (*savings)(const DistanceRow &row, const DistanceColumns &columns, double unit, int32_t *savings);
};

/// The table of the chosen instruction set.
const DistanceKernels *selected_distance_kernels();

/// Columns of a profile: shares of letters, the blank's in the last place.
struct ProfileColumns {
    const double *shares;  // [n_columns][n_letters]
    int64_t n_columns;
    int64_t n_letters;
};

/// Euclidean distances between columns, as small as possible in all. `first` and `second` have the same letters.
MergedColumns align_profiles(const ProfileColumns &first, const ProfileColumns &second, const Watch &watch);

/// Scores of columns with letters, as large as possible in all: scores[a][b] of letters, the blank as the last;
/// w(p_i, b) is the mean of scores[a][b] by the shares of column i.
MergedColumns align_profile_to_sequence(const ProfileColumns &profile, const uint8_t *codes, int64_t length,
                                        const double *scores, const Watch &watch);

}  // namespace tropalign
