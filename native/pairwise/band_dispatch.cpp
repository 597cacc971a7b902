#include "band_kernels.hpp"

#define TROPALIGN_TABLE_TYPE BandKernels
#define TROPALIGN_TABLE band_kernels
#define TROPALIGN_SELECTED selected_band_kernels
#include "../compute/dispatch.hpp"
