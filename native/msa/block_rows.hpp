// All posteriors of a store in a form in which a GPU finds the columns that two rows share: bits of 32 columns at
// a time.
//
//     row      columns 3 5 9 40                  two rows share the columns of the common bits; the value of a bit
//     blocks   (0, bits 3 5 9, first value)      is as many positions after its block's first value as there are
//              (1, bit 8, first value + 3)       bits below it
#pragma once
#include <cstdint>
#include <vector>

#include "store.hpp"

namespace tropalign {

inline constexpr int kBlockColumns = 32;

struct BlockRows {
    std::vector<int32_t> bases;        // [n][n]: index of the first row of pair (x, y); -1 if absent
    std::vector<uint32_t> row_blocks;  // [rows + 1]: the first block of each row
    std::vector<uint32_t> blocks;      // [blocks][3]: column block, bits, index of the first value
    std::vector<uint16_t> values;
};

/// Build the rows. Throws std::invalid_argument if the numbers of rows or values do not fit.
BlockRows block_rows(const PosteriorStore &store);

}  // namespace tropalign
