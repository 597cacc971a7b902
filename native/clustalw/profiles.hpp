// Profiles of aligned sequences, as numbers for the recurrence.
#pragma once
#include <cstdint>
#include <vector>

#include "rules.hpp"

namespace tropalign {

// Gap costs at each column of a profile.

/// Gap costs after column k of n, counted from 1; 0 and n are the profile's ends, where gaps are free unless
/// has_end_gaps is set.
///
///     column    1   2   3 ... n
///     open[ ] 0   1   2   3   n
struct GapCosts {
    std::vector<int32_t> open, extend;  // n + 2 each, the last ones 0
};

/// Costs of a gap before they are adjusted to the residues of a column.
struct BaseCosts {
    double open, extend;
};

BaseCosts base_costs(const ClustalwRules &rules, const MatrixRule &matrix, int64_t first_length, int64_t second_length);

/// Return the number of rows that have a gap in each column; gaps at the ends of a row do not count unless the
/// rules say so.
std::vector<int32_t> inner_gaps(const ClustalwRules &rules, const ProfileRows &rows);

GapCosts gap_costs(const ClustalwRules &rules, const BaseCosts &base, const ProfileRows &rows,
                   const std::vector<int32_t> &gaps);

// Interface of the profile alignment kernels, and the table of them that each instruction set fills.

/// Columns of the second profile are padded to a multiple of this, so that every instruction set computes the
/// same.
inline constexpr int64_t kProfileBlock = 16;

/// Frequencies of the residues in a profile's columns, laid out for the kernel: residues in pairs, columns in
/// blocks.
///
///     block 0: pair 0: column 0: two residues, column 1: two residues, ... column 15; pair 1: ...; block 1: ...
struct FrequencyBlocks {
    const int16_t *values;
    int64_t n_blocks;
    int32_t n_pairs;
};

/// State that the recurrence of a pair of profiles keeps between rows, and the column values that it needs; all
/// arrays hold whole blocks. Column j of the second profile, from 1, has index j - 1; values of column 0 have
/// fields of their own.
struct ProfileRow {
    int32_t *best, *down;            // H(i - 1, j) and E(i - 1, j), replaced by those of row i
    int32_t best_before;             // H(i - 1, 0)
    int32_t begin;                   // H(i, 0)
    int32_t begin_gain;              // gains of column 0
    const int32_t *scores;           // column i of the first against each column of the second
    const int32_t *down_open;        // cost of opening a gap in the second at j, without the first's share
    const int32_t *gains, *extends;  // X(j) - open(j + 1), and X(j), the sum of extensions 1 to j
    int32_t open, down_extend;       // gap costs of column i of the first
    int32_t across_open;             // the first's share of opening a gap in the first
    int64_t n_blocks, last;          // last: from 0; gaps in the second are free at it if is_last_free
    bool is_last_free;
};

/// Origin of H(i, j), one bit per column of a block.
struct StepBits {
    uint16_t not_diagonal;  // from a gap
    uint16_t is_down;       // from a gap in the second
    uint16_t opens_down;    // E(i, j) comes from H(i - 1, j): the gap starts here
    uint16_t opens_across;  // F(i, j) comes from H(i, j - 1): the gap starts here
};

struct ProfileKernels {
    const char *isa;
    /// Score columns of two profiles: scores[i * stride + j] is the sum over residues of first[i][residue] times
    /// the frequency in column j, divided by 10 and truncated, or (shift > 0) shifted to the right by `shift` bits
    /// and rounded. first has 2 * n_pairs values per row; j goes from 0 to the end of the blocks.
    void (*score_rows)(const int16_t *first, int64_t n_rows, const FrequencyBlocks &second, int shift, int32_t *scores,
                       int64_t stride);
    /// Compute one row of the recurrence (align.hpp).
    void (*next_row)(const ProfileRow &row, StepBits *steps);
};

/// Return the table of the chosen instruction set.
const ProfileKernels *selected_profile_kernels();

/// Two groups of sequences ready to be aligned. A column of the first holds the mean score of each residue there;
/// a column of the second the frequency of each residue; the score of two columns is the sum of their products.
struct ProfilePair {
    int64_t n_first, n_second;    // columns
    std::vector<int16_t> scores;  // first group: 2 * n_pairs per column, the residues of n_pairs pairs
    std::vector<int16_t> blocks;  // second group
    int32_t n_pairs;
    int shift;  // 0: division by ten
    bool has_end_gaps;
    GapCosts first, second;

    int64_t n_blocks() const { return (n_second + kProfileBlock - 1) / kProfileBlock; }
    /// Compute the scores of rows [row, row + n_rows) against the columns of blocks [block, end_block).
    void score(const ProfileKernels &kernels, int64_t row, int64_t n_rows, int64_t block, int64_t end_block,
               int32_t *out, int64_t stride) const {
        const FrequencyBlocks part{blocks.data() + block * n_pairs * 2 * kProfileBlock, end_block - block, n_pairs};
        kernels.score_rows(scores.data() + row * 2 * n_pairs, n_rows, part, shift, out, stride);
    }
};

/// Prepare two groups. `identity` is the mean percent identity of the sequences of one group with those of the
/// other. Weights are integers, one per sequence.
ProfilePair profile_pair(const ClustalwRules &rules, const ProfileRows &first, const ProfileRows &second,
                         const std::vector<int32_t> &weights, double identity);

}  // namespace tropalign
