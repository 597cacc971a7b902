#include "group_kernels.hpp"

#define TROPALIGN_TABLE_TYPE GroupKernels
#define TROPALIGN_TABLE group_kernels
#define TROPALIGN_SELECTED selected_group_kernels
#include "../compute/dispatch.hpp"
