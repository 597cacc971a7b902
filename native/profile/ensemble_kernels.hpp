// What the kernels of stochastic traces and of their clusters do, and the table of them that every instruction set
// fills.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "traces.hpp"

namespace tropalign {

/// Traces to be drawn from a matrix.
struct TraceWork {
    const TraceTables &tables;
    const FullMatrix &matrix;
    ModeOdds odds;
    const uint8_t *codes;  ///< Of the residues that the matrix is of.
    int32_t n_traces;
};

/// Domains by columns, in any order, followed by kSpare places that may be read.
struct SegmentColumns {
    static constexpr size_t kSpare = 15;
    std::vector<int32_t> begin, end, model_begin, model_end;
};

struct EnsembleKernels {
    const char *isa;
    /// Appends domains, whose places count from the begin of the matrix, and adds to scores[i] each trace's odds of
    /// residue i by the composition of its domain.
    void (*draw)(const TraceWork &work, TraceRandom &random, std::vector<Segment> &segments, float *scores);
    /// Which of the segments [first, last) are linked with this one (clusters.hpp): their places in the columns, from
    /// `out` on, in ascending order. How many.
    size_t (*linked)(const SegmentColumns &columns, size_t first, size_t last, const Segment &segment,
                     int32_t diagonals, int32_t *out);
};

/// The table of the chosen instruction set.
const EnsembleKernels *selected_ensemble_kernels();

}  // namespace tropalign
