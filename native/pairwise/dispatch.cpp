#include "dispatch.hpp"

#define TROPALIGN_TABLE_TYPE Kernels
#define TROPALIGN_TABLE kernels
#define TROPALIGN_SELECTED selected_kernels
#define TROPALIGN_LOOKS_UP_BYTES
#include "../compute/dispatch.hpp"
