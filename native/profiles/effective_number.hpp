// The effective number of sequences of an alignment, for a given information content of its model.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tropalign {

/// Parameters of the number, as in `tropalign.profiles.options`.
struct EntropyAims {
    float occupancy;  ///< a column is a node if its weighted share of residues is at least this
    double fragment;  ///< a row with residues in at most this share of the columns is a fragment
    double entropy;   ///< bits per node
    double sigma;     ///< bits of a short model
};

/// An alignment in Easel's codes, row by row.
struct AlignedCodes {
    const uint8_t *codes;
    int64_t n_rows, n_columns;
    const uint8_t *is_node;  ///< which columns are nodes; null if the rows decide that
};

/// Find the number of sequences for which a model's nodes have the target value of the mean relative entropy, by
/// bisection as in hmmbuild (Johnson, PhD thesis, 2006); rows are weighted by position (Henikoff and Henikoff
/// 1994).
///
/// Returns NaN if single precision might decide otherwise, or if there is no decision: then HMMER must compute the
/// number.
double effective_number(const AlignedCodes &alignment, const EntropyAims &aims, const float *background);

}  // namespace tropalign
