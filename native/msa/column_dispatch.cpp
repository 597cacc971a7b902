#include "column_kernels.hpp"

#define TROPALIGN_TABLE_TYPE ColumnKernels
#define TROPALIGN_TABLE column_kernels
#define TROPALIGN_SELECTED selected_column_kernels
#include "../compute/dispatch.hpp"
