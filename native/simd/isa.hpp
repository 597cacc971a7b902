// The instruction set chosen at import.
#pragma once
#include <string>
#include <vector>

namespace tropalign {

/// Instruction sets compiled in that this processor has, the best first.
std::vector<std::string> supported_isas();

/// Throws std::runtime_error if this processor has none of the instruction sets compiled in.
void require_isa();

/// The set named by TROPALIGN_ISA, else the best one. Throws std::runtime_error on a name that is unknown or that this
/// processor lacks.
std::string selected_isa();

/// That set, but v3 where the processor halves its vectors, v3 is compiled in, and nobody named a set: for kernels that
/// fill a vector with neighbouring diagonals of one pair, half of which are for nothing where the band is narrow.
std::string selected_narrow_isa();

/// Whether vectors of 64 bytes take as long as two of 32, so that wide ones win nothing where memory counts: AMD's
/// Zen 4.
bool halves_vectors();

}  // namespace tropalign
