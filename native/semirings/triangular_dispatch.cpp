#include "triangular.hpp"

#define TROPALIGN_TABLE_TYPE TriangularKernels
#define TROPALIGN_TABLE triangular_kernels
#define TROPALIGN_SELECTED selected_triangular_kernels
#include "../compute/dispatch.hpp"
