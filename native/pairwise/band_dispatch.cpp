#include "band_kernels.hpp"

#define TROPALIGN_TABLE_TYPE BandKernels
#define TROPALIGN_TABLE band_kernels
#define TROPALIGN_SELECTED selected_band_kernels
#define TROPALIGN_LOOKS_UP_BYTES
#include "../compute/dispatch.hpp"
