// Letters of targets as codes, by a table.
#pragma once
#include <cstddef>
#include <cstdint>

namespace tropalign {

/// codes[k] = table[letters[k]] of 256; the bits that any code has.
using Recode = uint8_t (*)(const uint8_t *letters, size_t n, const uint8_t *table, uint8_t *codes);

struct RecodeKernels {
    Recode recode;
};
const RecodeKernels *selected_recode_kernels();

}  // namespace tropalign
