#include "posterior_dispatch.hpp"

#define TROPALIGN_TABLE_TYPE PosteriorKernels
#define TROPALIGN_TABLE posterior_kernels
#define TROPALIGN_SELECTED selected_posterior_kernels
#include "../compute/dispatch.hpp"
