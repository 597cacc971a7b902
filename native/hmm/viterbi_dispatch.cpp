#include "viterbi_kernels.hpp"

#define TROPALIGN_TABLE_TYPE BestPathKernels
#define TROPALIGN_TABLE best_path_kernels
#define TROPALIGN_SELECTED selected_best_path_kernels
#include "../compute/dispatch.hpp"
