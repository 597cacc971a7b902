#include "ensemble_kernels.hpp"

#define TROPALIGN_TABLE_TYPE EnsembleKernels
#define TROPALIGN_TABLE ensemble_kernels
#define TROPALIGN_SELECTED selected_ensemble_kernels
#include "../compute/dispatch.hpp"
