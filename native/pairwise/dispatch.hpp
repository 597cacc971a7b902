// The kernels of the instruction set chosen at import.
#pragma once
#include "interface.hpp"

namespace tropalign {

/// Throws what selected_isa throws.
const Kernels *selected_kernels();

}  // namespace tropalign
