// Posteriors of aligned groups, pooled from those of some of their members: the columns of two groups replace the
// residues of two sequences, so that every later stage aligns groups like sequences.
#pragma once
#include <cstdint>
#include <vector>

#include "../compute/poll.hpp"

namespace tropalign {

/// Posteriors of pairs of sequences, row after row and pair after pair.
struct PairPosteriors {
    int64_t n_pairs;
    const int32_t *pairs;                        // [n_pairs][2] x, y
    const uint16_t *row_sizes;                   // elements of each residue of each x
    const uint16_t *columns, *values;            // residues of y, ascending; of kPosteriorOne
    const int64_t *row_begins, *element_begins;  // [n_pairs + 1] start of a pair's rows and elements
};

/// Columns of residues in the alignments of their groups.
struct GroupColumns {
    const int64_t *offsets;     // [n_sequences + 1]
    const uint16_t *column_of;  // [n_residues]
};

/// Pairs [begins[g], begins[g + 1]) are members of two groups of n_rows[g] and n_columns[g] columns.
struct GroupPairs {
    int64_t n;
    const int64_t *begins;              // [n + 1]
    const int32_t *n_rows, *n_columns;  // [n]
};

/// Sparse posteriors, one group pair after another.
struct PooledPosteriors {
    std::vector<uint16_t> row_sizes, columns, values;
};

/// Compute the mean posteriors of two groups' columns, over all pairs of members:
///
///     S(i, j) = sum over (a, b) of S_ab(residue of a in column i, of b in column j) / number of pairs (a, b)
///
/// in integers, whose sum is the same in any order. Elements below `cutoff` (of kPosteriorOne) are dropped.
bool pool_posteriors(const PairPosteriors &, const GroupColumns &, const GroupPairs &, int cutoff, int n_threads,
                     PooledPosteriors &out, const Poll &);

}  // namespace tropalign
