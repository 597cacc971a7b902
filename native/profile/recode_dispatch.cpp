#include "recode.hpp"

#define TROPALIGN_TABLE_TYPE RecodeKernels
#define TROPALIGN_TABLE recode_kernels
#define TROPALIGN_SELECTED selected_recode_kernels
#define TROPALIGN_LOOKS_UP_BYTES
#include "../compute/dispatch.hpp"
