// The effective number of sequences of an alignment, by the information that its model is to have.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tropalign {

/// What decides the number, as `tropalign.profile.build_options` has it.
struct EntropyAims {
    float occupancy;  ///< weighted share of residues from which on a column is a node
    double fragment;  ///< a row with residues in at most this share of the columns is a fragment
    double entropy;   ///< bits per node
    double sigma;     ///< bits of a short model
};

/// An alignment in Easel's codes, row by row.
struct AlignedCodes {
    const uint8_t *codes;
    int64_t n_rows, n_columns;
    const uint8_t *is_node;  ///< which columns are nodes; null where the rows decide that
};

/// Finds the number of sequences that leaves a model's nodes with the mean relative entropy that is aimed at, by halves
/// as hmmbuild finds it (Johnson, PhD thesis, 2006); rows are weighted by position (Henikoff and Henikoff 1994).
///
/// Not a number where single precision might decide otherwise, or nothing is decided at all: then HMMER has to.
double effective_number(const AlignedCodes &alignment, const EntropyAims &aims, const float *background);

}  // namespace tropalign
