#include "column_counts.hpp"

#define TROPALIGN_TABLE_TYPE ColumnCountKernels
#define TROPALIGN_TABLE column_count_kernels
#define TROPALIGN_SELECTED selected_column_counts
#include "../compute/dispatch.hpp"
