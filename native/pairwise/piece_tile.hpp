// A tile whose gap costs only the engine of piece_pair.hpp knows: a pair at a time per thread.
#pragma once
#include "interface.hpp"
#include "piece_costs.hpp"
#include "taken_pairs.hpp"
#include "tile.hpp"

namespace tropalign {

// The contract between piece_tile.cpp and the kernels of an instruction set.

/// One pair by itself, rows the longer sequence, with any gap costs (piece_pair.hpp).
struct PieceKernels {
    /// What the buffers of a pair take.
    size_t (*bytes)(const PieceScoring &, const LanePair &);
    /// `query_in_rows`: how the pair lies; `taken`: null, or what a local alignment may not pair. Finds nothing where
    /// the scratch says stop. The path stays in the scratch.
    void (*run)(const PieceScoring &, bool query_in_rows, const LanePair &, const TakenPairs *taken, UnitScratch &,
                LaneResult &result);
};

/// The kernels of the instruction set chosen at import.
const PieceKernels *selected_piece_kernels();

/// Aligns as align_tile does. Fewer threads run where a long pair's buffers take much of the memory; where they take
/// more than all of it, std::bad_alloc is thrown.
TileColumns align_pieces(const PieceKernels &, const PieceScoring &, const TileRequest &, const Poll &);

/// What the next alignment of each pair avoids, and the score, above 0, that it needs.
struct NextRequest {
    TakenPaths taken;
    const int32_t *least;  // of each pair
};

/// The best local alignment of each pair that takes none of the pairs of residues that are taken; one without a column,
/// of score 0, where that scores less than it needs. `scores`: the same scoring at depth score.
TileColumns align_next(const PieceKernels &, const PieceScoring &, const PieceScoring &scores, const TileRequest &,
                       const NextRequest &, const Poll &);

}  // namespace tropalign
