// Soft alignments of pairs whose residues score by tables: the recurrence of pairwise alignment over sums of
// exp(score / temperature), forward and backward, a table of each pair over threads.
#pragma once
#include <vector>

#include "../compute/poll.hpp"
#include "../compute/scratch.hpp"
#include "tile.hpp"

namespace tropalign {

/// A table of float or double, a row per residue of the query, and room for the posteriors of its pairs.
struct SoftTable {
    const void *scores;
    void *posteriors;
    bool is_double;
    int32_t n_rows, n_columns;
};

/// Costs are divided by the temperature.
struct SoftScoring {
    Mode mode;
    FreeEnds free_ends;
    double open, extend, temperature;
};

struct SoftSums {
    double log_z;                 // natural logarithm of the sum over all alignments
    double n_gaps, gap_residues;  // expected numbers
};

/// Buffers of a thread: arrays of a vector per step of each strip of rows, scales per window of steps, rows.
enum class SoftSlot { weights, matches, column_gaps, row_gaps, scales, rows, borders, count };

/// Kernels of one instruction set.
struct SoftKernels {
    /// Set the posteriors of a table and return its sums; not-a-number if scores and costs, divided by the
    /// temperature, exceed the range of double.
    SoftSums (*run)(const SoftTable &, const SoftScoring &, Scratch<SoftSlot> &);
};

/// Return the kernels of the instruction set chosen at import.
const SoftKernels *selected_soft_kernels();

/// Run each table; `sums` has one item per table. Returns false if `poll` stopped the work.
bool align_softly(const SoftKernels &, const std::vector<SoftTable> &, const SoftScoring &, int n_threads, const Poll &,
                  std::vector<SoftSums> &sums);

}  // namespace tropalign
