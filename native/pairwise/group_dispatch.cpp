#include "group_kernels.hpp"

#define TROPALIGN_TABLE_TYPE GroupKernels
#define TROPALIGN_TABLE group_kernels
#define TROPALIGN_SELECTED selected_group_kernels
#define TROPALIGN_LOOKS_UP_BYTES
#include "../compute/dispatch.hpp"
