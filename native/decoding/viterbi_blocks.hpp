// The best path of one long sequence in little memory, on all threads. The sequence is cut into blocks; values are
// kept only at their starts, and for the blocks that are being traced back:
//
//     1. starts         | block 0 ->| block 1 ->| ...  |    V before the first step of each block
//     2. traceback      |<- block 0 |<- block 1 | ...  |    from each start again, with all A kept, then back
//
// Both wait for a neighbour: the values for those of the previous block, the traceback for the state after the block.
// If sums are exact (viterbi.hpp) blocks need not wait (Maleki, Musuvathi and Mytkowicz 2014,
// doi:10.1145/2555243.2555264: "rank convergence"): a block starts some steps early with all values 0, and usually its
// values then differ from the true ones only by a constant, which affects no maximum. Similarly, the traceback starts
// some steps late, in any state. When the neighbour is known, both are checked exactly, and a block that fails is
// computed again.
#pragma once
#include <algorithm>
#include <limits>
#include <vector>

#include "../compute/poll.hpp"
#include "viterbi_kernels.hpp"
#include "viterbi_sweep.hpp"

namespace tropalign {

// Buffers and helpers of a thread for finding best paths.

inline constexpr double kImpossible = -std::numeric_limits<double>::infinity();

/// Buffers of one thread.
class ViterbiRoom {
  public:
    explicit ViterbiRoom(const ViterbiModel &model)
        : values_(kMostStreams * int64_t{model.stride}), scratch_(viterbi_scratch(model)), stride_(model.stride) {}

    /// V of a stream.
    double *values(int64_t stream) { return values_.data() + stride_ * stream; }
    double *scratch() { return scratch_.data(); }
    /// Return room for A of n steps.
    double *kept(int64_t n) {
        if (static_cast<int64_t>(kept_.size()) < n * stride_) kept_ = Buffer<double>(n * stride_);
        return kept_.data();
    }

  private:
    Buffer<double> kept_, values_, scratch_;
    int64_t stride_;
};

/// Return the lowest of the best states, -1 if no state is possible.
inline int64_t best_state(const ViterbiModel &model, const double *values) {
    const int64_t state = std::max_element(values, values + model.n_states) - values;
    return values[state] > kImpossible ? state : -1;
}

/// With up to this many states, padded, a thread processes blocks in alternation, and early starts pay even for a
/// single thread.
inline constexpr int32_t kMostTurning = 32;

/// Return the steps per block: a multiple of kStepsPerShift.
int64_t viterbi_block(const ViterbiModel &model, int64_t n_steps);

/// Find the path of a sequence with at least one step; false if no path is possible, or `poll` stopped it. `poll`
/// receives the number of finished steps.
template <class State>
bool path_in_blocks(const ViterbiModel &model, const ViterbiSweep &sweep, const ViterbiSteps &steps, int64_t block,
                    ViterbiMethod method, int n_threads, State *path, const Poll &poll);

}  // namespace tropalign
