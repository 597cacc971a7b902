// A tile for the engine of piece_pair.hpp, a pair at a time per thread: gap costs that no other engine supports, and
// further alignments of pairs.
#pragma once
#include "interface.hpp"
#include "piece_costs.hpp"
#include "taken_pairs.hpp"
#include "tile.hpp"

namespace tropalign {

// The interface between piece_tile.cpp and the kernels of an instruction set.

/// One pair alone, rows the longer sequence, with any gap costs (piece_pair.hpp).
struct PieceKernels {
    /// Bytes of the buffers of a pair.
    size_t (*bytes)(const PieceScoring &, const LanePair &);
    /// Align a pair. `query_in_rows`: the orientation of the pair; `taken`: null, or the residue pairs that a
    /// local alignment must avoid. Returns without a result if the scratch requests a stop. The path stays in the
    /// scratch.
    void (*run)(const PieceScoring &, bool query_in_rows, const LanePair &, const TakenPairs *taken, UnitScratch &,
                LaneResult &result);
};

/// Return the kernels of the instruction set chosen at import.
const PieceKernels *selected_piece_kernels();

/// Align like align_tile. Fewer threads run if a long pair's buffers take much of the memory; throws
/// std::bad_alloc if they take more than all of it.
TileColumns align_pieces(const PieceKernels &, const PieceScoring &, const TileRequest &, const Poll &);

/// The residue pairs that the next alignment of each pair avoids, and the score, above 0, that it needs.
struct NextRequest {
    TakenPaths taken;
    const int32_t *least;  // of each pair
};

/// Find the best local alignment of each pair that uses no taken pair of residues; an empty one of score 0 if that
/// scores less than needed. `scores`: the same scoring at depth score.
TileColumns align_next(const PieceKernels &, const PieceScoring &, const PieceScoring &scores, const TileRequest &,
                       const NextRequest &, const Poll &);

}  // namespace tropalign
