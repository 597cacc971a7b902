// Profiles of aligned sequences, as numbers that the recurrence takes.
#pragma once
#include <vector>

#include "costs.hpp"
#include "profile_kernels.hpp"

namespace tropalign {

/// Two groups of sequences ready to be aligned. A column of the first holds, per letter, the mean score of that letter
/// there; a column of the second how often each letter occurs; the score of two columns is the sum of their products.
struct ProfilePair {
    int64_t n_first, n_second;    // columns
    std::vector<int16_t> scores;  // of the first: 2 * n_pairs per column, the letters of n_pairs pairs
    std::vector<int16_t> blocks;  // of the second
    int32_t n_pairs;
    int shift;  // 0: divided by ten
    bool has_end_gaps;
    GapCosts first, second;

    int64_t n_blocks() const { return (n_second + kProfileBlock - 1) / kProfileBlock; }
    /// Scores of rows [row, row + n_rows) against the columns of blocks [block, end_block).
    void score(const ProfileKernels &kernels, int64_t row, int64_t n_rows, int64_t block, int64_t end_block,
               int32_t *out, int64_t stride) const {
        const FrequencyBlocks part{blocks.data() + block * n_pairs * 2 * kProfileBlock, end_block - block, n_pairs};
        kernels.score_rows(scores.data() + row * 2 * n_pairs, n_rows, part, shift, out, stride);
    }
};

/// `identity` is the mean percent identity of the sequences of the one group with those of the other. Weights are whole
/// numbers by sequence.
ProfilePair profile_pair(const ClustalwRules &rules, const ProfileRows &first, const ProfileRows &second,
                         const std::vector<int32_t> &weights, double identity);

}  // namespace tropalign
