#include "dispatch.hpp"

#define TROPALIGN_TABLE_TYPE PlaceKernels
#define TROPALIGN_TABLE place_kernels
#define TROPALIGN_SELECTED selected_place_kernels
#include "../compute/dispatch.hpp"
