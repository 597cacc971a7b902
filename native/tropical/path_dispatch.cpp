#include "path_kernels.hpp"

#define TROPALIGN_TABLE_TYPE PathKernels
#define TROPALIGN_TABLE path_kernels
#define TROPALIGN_SELECTED selected_path_kernels
#include "../compute/dispatch.hpp"
