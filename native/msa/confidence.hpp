// Confidence of an alignment: means of posteriors.
#pragma once
#include "column_align.hpp"

namespace tropalign {

/// Numbers from 0 to 1.
struct Confidence {
    std::vector<float> residues;  // of each residue, sequences concatenated
    std::vector<float> columns;
};

/// Compute the confidence. A residue has the mean of its posteriors with the other residues in its column, over
/// the pairs of sequences that the store has, weighted by the other's weight; a column has the mean over its pairs
/// of residues, weighted by the product of both weights. 0 if there is no pair. A pair whose element the store
/// dropped counts as 0.
Confidence alignment_confidence(const PosteriorStore &store, const ResidueColumns &columns, int32_t n_columns,
                                const double *weights, int n_threads, Watch &watch);

}  // namespace tropalign
