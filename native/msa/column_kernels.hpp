// What the kernels of column alignment do, and the table of them that every instruction set fills.
#pragma once
#include <cstdint>

#include "sparse.hpp"

namespace tropalign {

/// Columns of the second group are padded to a multiple of this, so that every instruction set computes the same.
inline constexpr int32_t kColumnBlock = 16;

/// Residues [begin, end) of a sequence, and the column of each of its residues.
struct ResidueRange {
    const int32_t *columns;
    int32_t begin, end;
};

/// Rows of P (column_align.hpp), from row `first` on.
struct SumRows {
    uint32_t *sums;
    int64_t first, stride;
};

struct ColumnKernels {
    const char *isa;
    /// Adds one pair's terms to P: those of the rows x_residues. `share` is of 2^31 - 1.
    void (*add_terms)(const SparseRows &posteriors, uint32_t share, const ResidueRange &x_residues,
                      const int32_t *y_columns, const SumRows &rows);
    /// A row of the recurrence: best[j - 1] is D(i - 1, j) and becomes D(i, j), for j from 1 to n_columns; D(i, 0) is
    /// 0. sums[j - 1] shifted to the right by `shift` bits is P(i, j). Directions are two planes of n_columns bits:
    /// where D(i, j) is no diagonal step, and where it is not D(i, j - 1).
    void (*next_row)(int32_t *best, const int32_t *sums, int shift, int64_t n_columns, uint16_t *not_diagonal,
                     uint16_t *not_left);
};

/// The table of the chosen instruction set.
const ColumnKernels *selected_column_kernels();

}  // namespace tropalign
