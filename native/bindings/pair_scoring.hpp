// The scoring of pairs as Python gives it, checked.
#pragma once
#include "../pairwise/interface.hpp"
#include "check.hpp"

namespace tropalign {

using Matrix = nb::ndarray<const int32_t, nb::shape<kLetters, kLetters>, nb::c_contig, nb::device::cpu>;

/// The engine computes in 32 bits at most.
inline void check_scoring(const Matrix &matrix, int32_t gap_open, int32_t gap_extend, int64_t longest) {
    require(gap_open >= 0 && gap_extend >= 0, "gap_open, gap_extend: costs are zero or more");
    int64_t highest = 1;  // of absolute values
    for (int a = 0; a < kPadCode; ++a)
        for (int b = 0; b < kPadCode; ++b) highest = std::max(highest, std::abs(int64_t{matrix(a, b)}));
    if ((highest + gap_open + 2 * int64_t{gap_extend}) * (2 * longest + 2) > INT32_MAX)
        refuse("matrix, gap_open, gap_extend: scores of sequences of " + std::to_string(longest) +
               " residues may pass 2147483647");
}

}  // namespace tropalign
