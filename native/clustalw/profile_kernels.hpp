// What the kernels of profile alignment do, and the table of them that every instruction set fills.
#pragma once
#include <cstdint>

namespace tropalign {

/// Columns of the second profile are padded to a multiple of this, so that every instruction set computes the same.
inline constexpr int64_t kProfileBlock = 16;

/// Frequencies of the letters in a profile's columns, laid out for the kernel: letters by pairs, columns by blocks.
///
///     block 0: pair 0: column 0: two letters, column 1: two letters, ... column 15; pair 1: ...; block 1: ...
struct FrequencyBlocks {
    const int16_t *values;
    int64_t n_blocks;
    int32_t n_pairs;
};

/// What the recurrence of a pair of profiles keeps between rows, and what it needs of the columns; all arrays hold
/// whole blocks. Column j of the second profile, from 1, stands at j - 1; what is said of column 0 has a field of its
/// own.
struct ProfileRow {
    int32_t *best, *down;            // H(i - 1, j) and E(i - 1, j), which become those of row i
    int32_t best_before;             // H(i - 1, 0)
    int32_t begin;                   // H(i, 0)
    int32_t begin_gain;              // gains of column 0
    const int32_t *scores;           // of column i of the first with each of the second
    const int32_t *down_open;        // cost of a gap in the second that is opened beside j, without the first's share
    const int32_t *gains, *extends;  // X(j) - open(j + 1), and X(j), where X(j) are extensions 1 to j added up
    int32_t open, down_extend;       // of column i of the first
    int32_t across_open;             // its share of opening a gap in the first
    int64_t n_blocks, last;          // the last column, from 0; gaps in the second are free beside it if is_last_free
    bool is_last_free;
};

/// Where H(i, j) comes from, a bit per column of a block.
struct StepBits {
    uint16_t not_diagonal;  // by a gap
    uint16_t is_down;       // by a gap in the second
    uint16_t opens_down;    // E(i, j) comes from H(i - 1, j), and
    uint16_t opens_across;  // F(i, j) from H(i, j - 1): here the gap begins
};

struct ProfileKernels {
    const char *isa;
    /// Scores of columns of two profiles: scores[i * stride + j] is the sum over letters of first[i][letter] times the
    /// frequency in column j, divided by 10 and truncated, or (shift > 0) shifted to the right by `shift` bits and
    /// rounded. first has 2 * n_pairs values per row; j goes from 0 to the end of the blocks.
    void (*score_rows)(const int16_t *first, int64_t n_rows, const FrequencyBlocks &second, int shift, int32_t *scores,
                       int64_t stride);
    /// One row of the recurrence (align.hpp).
    void (*next_row)(const ProfileRow &row, StepBits *steps);
};

/// The table of the chosen instruction set.
const ProfileKernels *selected_profile_kernels();

}  // namespace tropalign
