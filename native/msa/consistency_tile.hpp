// How a tile of consistency is computed: the sum over z of wz Sxz Szy at the elements of Sxy, for some x and y, and
// some z at a time.
//
// A multiply-add of neighbouring 16-bit numbers takes two rows of Szy at once. So the rows of z are taken as twins,
// 2t and 2t + 1, and row i of Sxz becomes steps, each the posteriors of x's residue i with both rows of a twin:
//
//     steps of row i:      (twin 4: a8 a9) (twin 5: a10 0)      of this z, then those of the next: one list for all z
//     window of twin 4:    0 ... 0 | b8 b9 | b8 b9 | ... | 0 ... 0     a couple of values per column of y
//                                    ^ column `first`
//     sum over k of Sxz(i,k) Szy(k,j), for 16 neighbouring j:   step * 16 couples from column j on, over all steps
//
// Zeros on both sides of a window let the 16 columns begin anywhere; all sums are of integers, so that no order matters.
#pragma once
#include <cstdint>
#include <vector>

#include "sparse.hpp"

namespace tropalign {

inline constexpr int kSumColumns = 16;

/// A row's weighted posteriors with the two rows of a twin.
struct Step {
    uint32_t twin;
    int16_t even, odd;
};

/// The steps of a sequence's rows through the z of a block.
struct StepRows {
    const uint32_t *starts;  // [rows + 1]
    const Step *steps;
};

/// A stretch of a twin's columns in which no more than kGapColumns neighbours are without elements.
struct Window {
    uint32_t begin;  // 16 couples for columns j to j + 15 are at begin + j - lowest,
    int32_t lowest;  // for j from lowest on,
    uint32_t size;   // so many; for all other j there is nothing in the window
    uint32_t next;   // the twin's next window; 0: none
};

/// The windows of a block's twins: the first window of a twin has its number.
struct TwinWindows {
    const Window *windows;
    const int32_t *couples;
};

/// Adds to `sums`, a number per element of `own`.
using AddProducts = void (*)(const SparseRows &own, const StepRows &steps, const TwinWindows &windows, int64_t *sums);

/// Kernels of one instruction set.
struct ConsistencyKernels {
    AddProducts add_products;
};

/// Those of the chosen one. Throws what selected_isa throws.
const ConsistencyKernels *selected_consistency_kernels();

/// A z of a block.
struct Between {
    SparseRows rows;      // x's rows and z's columns, or z's rows and y's columns; none where there are no starts
    uint32_t first_twin;  // the number of z's first twin in the block
    int32_t n_twins;
    int32_t weight;  // of kWeightOne
};

/// The highest weight. A row's posteriors sum to sqrt(2) at most, so that the sums of 16 z stay within 32 bits.
inline constexpr int kWeightOne = 2048;
inline constexpr int kBlockSequences = 16;

/// Memory for the steps of one x, used again and again.
class StepMaker {
  public:
    /// x's rows through some z. Valid until the next call.
    StepRows make(int32_t n_rows, const std::vector<Between> &block);

  private:
    std::vector<uint32_t> starts_;
    std::vector<Step> steps_;
};

/// Memory for the windows of one y.
class WindowMaker {
  public:
    TwinWindows make(uint32_t n_twins, const std::vector<Between> &block);

  private:
    void add_twin(const SparseRows &rows, int32_t twin, uint32_t number);
    uint32_t room_for(uint32_t n_couples);

    std::vector<Window> windows_;
    std::vector<int32_t> couples_;
    uint32_t n_couples_ = 0;
};

}  // namespace tropalign
