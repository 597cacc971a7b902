#include "msv_kernels.hpp"
#include "ssv_kernels.hpp"

#define TROPALIGN_TABLE_TYPE SsvKernels
#define TROPALIGN_TABLE ssv_kernels
#define TROPALIGN_SELECTED selected_ssv_kernels
#define TROPALIGN_LOOKS_UP_BYTES
#include "../compute/dispatch.hpp"

#define TROPALIGN_TABLE_TYPE MsvKernels
#define TROPALIGN_TABLE msv_kernels
#define TROPALIGN_SELECTED selected_msv_kernels
#define TROPALIGN_LOOKS_UP_BYTES
#include "../compute/dispatch.hpp"
