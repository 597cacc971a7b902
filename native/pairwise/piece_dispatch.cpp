#include "piece_kernels.hpp"

#define TROPALIGN_TABLE_TYPE PieceKernels
#define TROPALIGN_TABLE piece_kernels
#define TROPALIGN_SELECTED selected_piece_kernels
#define TROPALIGN_LOOKS_UP_BYTES
#include "../compute/dispatch.hpp"
