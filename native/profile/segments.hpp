// Domains of stochastic traces.
#pragma once
#include <cstdint>

namespace tropalign {

/// A domain of a trace, from its first to its last match. 0-based and half-open.
struct Segment {
    int32_t trace = 0;
    int32_t begin = 0, end = 0;  ///< Residues of the target.
    int32_t model_begin = 0, model_end = 0;
};

}  // namespace tropalign
