// A tile whose gap costs only the engine of piece_pair.hpp knows: a pair at a time per thread.
#pragma once
#include "piece_kernels.hpp"
#include "tile.hpp"

namespace tropalign {

/// As align_tile. Fewer threads run where the buffers of a long pair take much of the memory; where they take more than
/// all of it, std::bad_alloc is thrown.
TileColumns align_pieces(const PieceKernels &, const PieceScoring &, const TileRequest &, const Poll &);

}  // namespace tropalign
