// Computation of a tile of consistency: the sum over z of wz Sxz Szy at the elements of Sxy, for some x and y, and
// some z at a time.
//
// A multiply-add of neighbouring 16-bit numbers processes two rows of Szy at once. So the rows of z are grouped as
// twins, 2t and 2t + 1, and their columns 16 at a time, as chunks. If a twin has elements in a chunk, there is a
// block of 16 couples; a table has its index, or else the index of the block of zeros, so that no step has to
// check. Row i of Sxz becomes steps, each with the posteriors of x's residue i with both rows of a twin:
//
//     steps of row i      (twin 4: a8 a9) (twin 5: a10 0) ...    of this z, then those of the next: one list for all z
//     table   chunk   0  1  2  3
//             twin 4  0  0  3  0
//             twin 5  0  0  7  8
//     block 3         b8,32 b9,32 | b8,33 b9,33 | ... | b8,47 b9,47
//
// The products of row i in chunk 2 are the sum over its steps of (a8 a9) * block 3, (a10 0) * block 7, ... All are
// sums of integers, so that their order does not matter.
#pragma once
#include <cstdint>
#include <vector>

#include "../compute/buffer.hpp"
#include "sparse.hpp"

namespace tropalign {

inline constexpr int kChunkColumns = 16;

/// A row's weighted posteriors with the two rows of a twin.
struct Step {
    uint32_t twin;  // start of the twin's row of the table
    int16_t even, odd;
};

/// The steps of a sequence's rows through some z.
struct StepRows {
    const uint32_t *begins, *ends;  // [rows]
    const Step *steps;
};

/// Blocks of the twins of some z.
struct TwinBlocks {
    const uint32_t *table;   // [twins][chunks]: start of a block in `couples`
    const int32_t *couples;  // the block of zeros comes first
};

/// The chunks in which rows have elements.
struct ChunkRows {
    const uint32_t *starts;  // [rows + 1]
    const uint16_t *chunks;
    int32_t n_rows;
};

/// Adds the products, shifted right, to sums[chunk of a row][kChunkColumns].
using AddProducts = void (*)(const ChunkRows &rows, const StepRows &steps, const TwinBlocks &blocks, int shift,
                             int32_t *sums);

/// Kernels of one instruction set.
struct ConsistencyKernels {
    AddProducts add_products;
};

/// Return the table of the chosen instruction set. Throws what selected_isa throws.
const ConsistencyKernels *selected_consistency_kernels();

/// A third sequence z through which x and y are compared, one of a batch.
struct Between {
    SparseRows rows;      // x's rows and z's columns, or z's rows and y's columns; starts is null if absent
    uint32_t first_twin;  // z's first row of the table
    int32_t weight;       // of kWeightOne
};

/// The highest weight. A row's posteriors sum to at most sqrt(2), so that the sums of kMostBetween z stay within
/// 32 bits.
inline constexpr int kWeightOne = 2048;
inline constexpr int kMostBetween = 16;

/// Makes the steps of one x; reuses its memory.
class StepMaker {
  public:
    /// Make the steps. The table's rows have `n_chunks` entries. The result is valid until the next call.
    StepRows make(int32_t n_rows, uint32_t n_chunks, const std::vector<Between> &between);

  private:
    std::vector<uint32_t> begins_, ends_;
    std::vector<Step> steps_;
};

/// Makes the blocks of one y; reuses its memory.
class BlockMaker {
  public:
    /// Make the blocks. The result is valid until the next call.
    TwinBlocks make(uint32_t n_twins, uint32_t n_chunks, const std::vector<Between> &between);

  private:
    int16_t *block(uint32_t at);

    std::vector<uint32_t> table_, filled_;  // filled_: the entries of the table that are not 0
    Buffer<int32_t> couples_;               // aligned: a block is a cache line
    size_t n_couples_ = 0;
};

}  // namespace tropalign
