// The best path through a matrix of sums that are computed row by row: which columns of two groups an alignment
// puts together.
//
//     D(i, j) = max(D(i-1, j-1) + P(i, j), D(i-1, j), D(i, j-1)),    D(i, 0) = D(0, j) = 0
//
// Tie rule, from the end (m, n) backwards: the diagonal step if it reaches D(i, j), else the step to (i, j-1) if D
// is equal there (a column of the second group alone), else that to (i-1, j).
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "sparse.hpp"
#include "watch.hpp"

namespace tropalign {

// The kernels of column alignment, and the table of them that every instruction set fills.

/// Columns of the second group are padded to a multiple of this, so that every instruction set computes the same.
inline constexpr int32_t kColumnBlock = 16;

/// Residues [begin, end) of a sequence, and the column of each of its residues.
struct ResidueRange {
    const int32_t *columns;
    int32_t begin, end;
};

/// Rows of P (column_align.hpp), starting at row `first`.
struct SumRows {
    uint32_t *sums;
    int64_t first, stride;
};

struct ColumnKernels {
    const char *isa;
    /// Adds one pair's terms to P: those of the rows x_residues. `share` is in units of 1 / (2^31 - 1).
    void (*add_terms)(const SparseRows &posteriors, uint32_t share, const ResidueRange &x_residues,
                      const int32_t *y_columns, const SumRows &rows);
    /// Computes a row of the recurrence: best[j - 1] is D(i - 1, j) and becomes D(i, j), for j from 1 to
    /// n_columns; D(i, 0) is 0. sums[j - 1] shifted right by `shift` bits is P(i, j). Directions are two planes of
    /// n_columns bits, set where D(i, j) is not a diagonal step, and where it is not D(i, j - 1).
    void (*next_row)(int32_t *best, const int32_t *sums, int shift, int64_t n_columns, uint16_t *not_diagonal,
                     uint16_t *not_left);
};

/// Return the table of the chosen instruction set.
const ColumnKernels *selected_column_kernels();

/// New positions of the columns of two groups; a column of the result holds one column of either group, or of both.
struct MergedColumns {
    std::vector<int32_t> first, second;  // ascending: the new column of each column
    int32_t n_columns;
};

/// The matrix P, m rows of n columns.
struct ColumnSums {
    int64_t m, n;
    /// Rows that are computed at a time, at least one.
    int64_t window_rows;
    /// D adds P shifted right by this many bits: no sum of min(m, n) of them may exceed 31 bits.
    int shift;
    /// Writes rows [begin, end) of P, `stride` apart: int32_t, as bits.
    std::function<void(int64_t begin, int64_t end, uint32_t *rows, int64_t stride)> fill;
};

/// Return the distance of rows in a window: n, rounded up to whole blocks.
int64_t row_stride(int64_t n);

/// Return the number of rows whose directions are kept together (column_path.cpp).
int64_t rows_of_a_block(int64_t m, int64_t n);

/// Find the best path. If the watch stops the work, the result is invalid.
MergedColumns best_columns(const ColumnSums &sums, const Watch &watch);

}  // namespace tropalign
