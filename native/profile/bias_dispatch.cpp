#include "bias_kernels.hpp"

#define TROPALIGN_TABLE_TYPE BiasKernels
#define TROPALIGN_TABLE bias_kernels
#define TROPALIGN_SELECTED selected_bias_kernels
#include "../compute/dispatch.hpp"
