// The best way through a matrix of sums that come row by row: which columns of two groups an alignment puts together.
//
//     D(i, j) = max(D(i-1, j-1) + P(i, j), D(i-1, j), D(i, j-1)),    D(i, 0) = D(0, j) = 0
//
// Tie rule, from the end (m, n) backwards: the diagonal step where it reaches D(i, j), else the step to (i, j-1) where
// D is the same there (a column of the second group alone), else that to (i-1, j).
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "watch.hpp"

namespace tropalign {

/// Where the columns of two groups went; every column of the result has one of them, or one of each.
struct MergedColumns {
    std::vector<int32_t> first, second;  // ascending: the new column of each column
    int32_t n_columns;
};

/// The matrix P, m rows of n columns.
struct ColumnSums {
    int64_t m, n;
    /// Rows that are made at a time, at least one.
    int64_t window_rows;
    /// D adds P shifted to the right by so many bits: no sum of min(m, n) of them may pass 31 bits.
    int shift;
    /// Writes rows [begin, end) of P, `stride` apart: int32_t, as bits.
    std::function<void(int64_t begin, int64_t end, uint32_t *rows, int64_t stride)> fill;
};

/// The distance of rows in a window: n, rounded up to whole blocks.
int64_t row_stride(int64_t n);

/// Rows of which all directions are kept together (column_path.cpp).
int64_t rows_of_a_block(int64_t m, int64_t n);

/// The best way. Where the watch stops it, the result is of no use.
MergedColumns best_columns(const ColumnSums &sums, const Watch &watch);

}  // namespace tropalign
