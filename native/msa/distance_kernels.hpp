// What the kernel of a row of distances does, and the table of it that every instruction set fills.
#pragma once
#include <cstdint>

namespace tropalign {

/// A column of the first profile: its shares, the sum of their squares, its distance from the blank.
struct DistanceRow {
    const double *shares;
    int64_t n_letters;
    double square, to_blank;
};

/// The columns of the second one, a whole number of blocks (column_kernels.hpp): shares[letter][column].
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

}  // namespace tropalign
