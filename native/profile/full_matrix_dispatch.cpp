#include "full_matrix_kernels.hpp"

#define TROPALIGN_TABLE_TYPE FullMatrixKernels
#define TROPALIGN_TABLE full_matrix_kernels
#define TROPALIGN_SELECTED selected_full_matrix_kernels
#include "../compute/dispatch.hpp"
