// The kernels of the instruction set chosen at import.
#pragma once
#include "posterior_unit.hpp"

namespace tropalign {

/// Throws what selected_isa throws.
const PosteriorKernels *selected_posterior_kernels();

}  // namespace tropalign
