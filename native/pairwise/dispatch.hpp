// The kernels of the instruction set chosen at import.
#pragma once
#include <string>
#include <vector>

#include "unit.hpp"

namespace tropalign {

/// Instruction sets compiled in that this processor has, the best first.
std::vector<std::string> supported_isas();

/// Kernels of the set named by TROPALIGN_ISA, else of the best one. Throws std::runtime_error on a name that is
/// unknown or that this processor lacks.
const Kernels *selected_kernels();

}  // namespace tropalign
