#include "distance_kernels.hpp"

#define TROPALIGN_TABLE_TYPE DistanceKernels
#define TROPALIGN_TABLE distance_kernels
#define TROPALIGN_SELECTED selected_distance_kernels
#include "../compute/dispatch.hpp"
