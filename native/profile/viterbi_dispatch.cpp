#include "viterbi_kernels.hpp"

#define TROPALIGN_TABLE_TYPE ViterbiKernels
#define TROPALIGN_TABLE viterbi_kernels
#define TROPALIGN_SELECTED selected_viterbi_kernels
#define TROPALIGN_LOOKS_UP_BYTES
#include "../compute/dispatch.hpp"
