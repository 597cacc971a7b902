#include "dispatch.hpp"

#define TROPALIGN_TABLE_TYPE Kernels
#define TROPALIGN_TABLE kernels
#define TROPALIGN_SELECTED selected_kernels
#include "../compute/dispatch.hpp"
