// Which transitions a model has, as masks: accuracies of alignments are summed along possible ones.
#pragma once
#include <cstdint>

#include "float_tables.hpp"

namespace tropalign {

struct PathMasks {
    enum { kOpen = kTransitions, kMasks };
    Buffer<uint32_t> masks;    ///< [Q][kMasks][kQuad], 0 or all bits; kOpen: D -> D from the first quad to this one.
    Buffer<uint8_t> all_pass;  ///< [Q]: no mask of the quad is 0.
};

}  // namespace tropalign
