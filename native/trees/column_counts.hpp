// In how many columns two rows of an alignment agree, and the table of the kernel that counts them.
#pragma once
#include <cstdint>

namespace tropalign {

/// The code of what is not compared: gaps and ambiguous letters. Others are below 64, those of nucleotides A 0, C 1, G
/// 2, T 3, so that transitions (A and G, C and T) differ in just the second bit.
inline constexpr uint8_t kNotCompared = 0x80;
/// Rows are filled up to a multiple of so many columns by kNotCompared.
inline constexpr int64_t kColumnsAtOnce = 64;

/// Columns in which both rows hold a letter; of these the equal ones, and those that differ by a transition.
struct ColumnCounts {
    int32_t compared, equal, transitions;
};

struct ColumnCountKernels {
    const char *isa;
    /// Counts of `row` with each of n rows that follow one another; n_columns is a multiple of kColumnsAtOnce.
    void (*count)(const uint8_t *row, const uint8_t *others, int64_t n, int64_t n_columns, ColumnCounts *counts);
};

/// The table of the chosen instruction set.
const ColumnCountKernels *selected_column_count_kernels();

}  // namespace tropalign
