#include "word_kernels.hpp"

#define TROPALIGN_TABLE_TYPE WordKernels
#define TROPALIGN_TABLE word_kernels
#define TROPALIGN_SELECTED selected_word_kernels
#include "../compute/dispatch.hpp"
