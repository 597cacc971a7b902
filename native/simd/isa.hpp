// The instruction set chosen at import.
#pragma once
#include <string>
#include <vector>

namespace tropalign {

/// Return the compiled instruction sets that this processor has, the best first.
std::vector<std::string> supported_isas();

/// Throw std::runtime_error if this processor has none of the compiled instruction sets.
void require_isa();

/// Return the set named by TROPALIGN_ISA, else the best one. Throws std::runtime_error if the name is unknown or
/// this processor lacks it.
std::string selected_isa();

/// Like selected_isa, but v3 if the processor halves its vectors, v3 is compiled, and TROPALIGN_ISA is not set: for
/// kernels that fill a vector with neighbouring diagonals of one pair: half of them are wasted if the band is narrow.
std::string selected_narrow_isa();

/// True if vectors of 64 bytes take as long as two of 32, so that wide ones gain nothing if memory is the limit:
/// AMD's Zen 4.
bool halves_vectors();

}  // namespace tropalign
