// A tile whose gap costs only the engine of piece_pair.hpp knows: a pair at a time per thread.
#pragma once
#include "interface.hpp"
#include "piece_costs.hpp"
#include "tile.hpp"

namespace tropalign {

// The contract between piece_tile.cpp and the kernels of an instruction set.

/// One pair by itself, rows the longer sequence, with any gap costs (piece_pair.hpp).
struct PieceKernels {
    /// What the buffers of a pair take.
    size_t (*bytes)(const PieceScoring &, const LanePair &);
    /// `query_in_rows`: how the pair lies. Finds nothing where the scratch says stop. The path stays in the scratch.
    void (*run)(const PieceScoring &, bool query_in_rows, const LanePair &, UnitScratch &, LaneResult &result);
};

/// The kernels of the instruction set chosen at import.
const PieceKernels *selected_piece_kernels();

/// Aligns as align_tile does. Fewer threads run where a long pair's buffers take much of the memory; where they take
/// more than all of it, std::bad_alloc is thrown.
TileColumns align_pieces(const PieceKernels &, const PieceScoring &, const TileRequest &, const Poll &);

}  // namespace tropalign
