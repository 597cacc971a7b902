#include "profile_kernels.hpp"

#define TROPALIGN_TABLE_TYPE ProfileKernels
#define TROPALIGN_TABLE profile_kernels
#define TROPALIGN_SELECTED selected_profile_kernels
#include "../compute/dispatch.hpp"
