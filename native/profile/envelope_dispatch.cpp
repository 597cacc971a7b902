#include "envelope_kernels.hpp"

#define TROPALIGN_TABLE_TYPE EnvelopeKernels
#define TROPALIGN_TABLE envelope_kernels
#define TROPALIGN_SELECTED selected_envelope_kernels
#include "../compute/dispatch.hpp"
