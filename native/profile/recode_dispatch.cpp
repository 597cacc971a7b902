#include "recode.hpp"

#define TROPALIGN_TABLE_TYPE RecodeKernels
#define TROPALIGN_TABLE recode_kernels
#define TROPALIGN_SELECTED selected_recode_kernels
#include "../compute/dispatch.hpp"
