// The contract between band_trials.cpp and the kernels of an instruction set.
#pragma once
#include "band.hpp"

namespace tropalign {

/// One pair within a band of diagonals, global mode, rows the longer sequence.
struct BandKernels {
    int lanes;  // of a vector, each of which covers two diagonals
    bool (*suits)(const Scoring &, const LanePair &);
    size_t (*bytes)(const Scoring &, const LanePair &, const Band &);
    /// False where a path beyond the band may be as good; result.score is then a score that the pair has at the least.
    bool (*run)(const Scoring &, const LanePair &, const Band &, UnitScratch &, LaneResult &result);
};

/// The kernels of the instruction set chosen at import.
const BandKernels *selected_band_kernels();

}  // namespace tropalign
