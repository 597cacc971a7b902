#include "sum_kernels.hpp"

#define TROPALIGN_TABLE_TYPE HmmSumKernels
#define TROPALIGN_TABLE hmm_sum_kernels
#define TROPALIGN_SELECTED selected_hmm_sum_kernels
#include "../compute/dispatch.hpp"
