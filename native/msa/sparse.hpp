// Posterior probabilities of a pair of sequences: a sparse matrix of the elements that matter.
#pragma once
#include <cstdint>

namespace tropalign {

/// Probability 1 in 16-bit fixed point: the largest number of a signed 16-bit lane.
inline constexpr int kPosteriorOne = 32767;
/// Longest sequence: columns are stored as uint16_t.
inline constexpr int64_t kLongestResidues = 65535;

/// The kept elements of an n_rows by n_columns matrix: row i holds the elements starts[i] up to starts[i + 1].
struct SparseRows {
    int32_t n_rows, n_columns;
    const uint32_t *starts;   // [n_rows + 1]
    const uint16_t *columns;  // ascending within a row
    const uint16_t *values;   // of kPosteriorOne
};

}  // namespace tropalign
