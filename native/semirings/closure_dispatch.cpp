#include "closure_kernels.hpp"

#define TROPALIGN_TABLE_TYPE ClosureKernels
#define TROPALIGN_TABLE closure_kernels
#define TROPALIGN_SELECTED selected_closure_kernels
#include "../compute/dispatch.hpp"
