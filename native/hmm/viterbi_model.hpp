// A hidden Markov model as the kernels of best paths read it: logarithms rounded (viterbi.hpp), padded to whole vectors
// with states that nothing reaches.
#pragma once
#include <cstdint>

#include "../compute/buffer.hpp"
#include "viterbi.hpp"

namespace tropalign {

/// States are padded to a multiple of this, on every instruction set.
inline constexpr int32_t kStatePadding = 8;
/// States that are computed together. Transitions lie in blocks of this many target states:
///
///     from (r)    block 0: to 0 .. 63      block 1: to 64 .. 127     the last block: as wide as what is left
///        0        x x x x x x ...          x x x x x x ...
///        1        x x x x x x ...          x x x x x x ...
inline constexpr int32_t kTargetStates = 64;

/// Smaller logarithms than this are rounded to multiples of 2^-36. A double that is added to kRounder and taken off
/// again is: the last bit of what lies in [2^16, 2^17) is 2^-36.
inline constexpr double kMostRounded = 0x1p15, kRounder = 0x1.8p16;
inline double rounded_log(double x) { return x < kMostRounded && x > -kMostRounded ? (x + kRounder) - kRounder : x; }

/// Values of steps whose number is a multiple of this are shifted so that the highest is 0.
inline constexpr int64_t kStepsPerShift = 32;

/// Where no logarithm is farther than kMostExact from 0, and no value of a shifted step lower than kLowestExact, no sum
/// reaches 2^17 before the next shift, so that none is rounded: 2^15 + 32 * 2 * 2^10 and one logarithm more.
inline constexpr double kMostExact = 0x1p10, kLowestExact = -0x1p15;

class ViterbiModel {
  public:
    explicit ViterbiModel(const HmmLogs &logs);

    int32_t n_states, n_symbols, stride;  ///< stride: n_states, padded
    const double *start;                  ///< [stride]
    const double *from;                   ///< transitions in blocks of targets, each [stride][width of the block]
    const double *into;                   ///< [stride][stride]: those into a state lie in its row
    const double *highest;                ///< [block][stride]: from each state, the highest one into the block
    const double *emission;               ///< [n_symbols][stride]
    double largest;                       ///< The highest finite logarithm without its sign.

    int32_t n_blocks() const { return (stride + kTargetStates - 1) / kTargetStates; }

  private:
    Buffer<double> memory_;
};

/// The steps of one sequence: codes, or frames [n, n_states].
struct ViterbiSteps {
    const uint8_t *codes;
    const double *frames;
    int64_t n;
};

}  // namespace tropalign
