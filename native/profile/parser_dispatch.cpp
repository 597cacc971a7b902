#include "parser_kernels.hpp"

#define TROPALIGN_TABLE_TYPE ParserKernels
#define TROPALIGN_TABLE parser_kernels
#define TROPALIGN_SELECTED selected_parser_kernels
#include "../compute/dispatch.hpp"
