// A hidden Markov model in the form for the kernels of best paths: logarithms rounded (viterbi.hpp), padded to
// whole vectors with unreachable states.
#pragma once
#include <cstdint>

#include "../compute/buffer.hpp"
#include "viterbi.hpp"

namespace tropalign {

/// States are padded to a multiple of this, on every instruction set.
inline constexpr int32_t kStatePadding = 8;
/// Models with fewer states (padded) have transitions in the order [from][to]. With more, states are reached in
/// groups, and the transitions into a group are adjacent, a cache line per predecessor (viterbi_many.hpp):
///
///     group 0: to 0 .. 7            group 1: to 8 .. 15
///     from 0   x x x x x x x x      from 0   x x x x x x x x
///     from 1   x x x x x x x x      from 1   x x x x x x x x
///     ...
inline constexpr int32_t kGroupedFrom = 80;
inline constexpr int32_t kGroup = kStatePadding;
/// Predecessors of a group that are scanned at a time.
inline constexpr int32_t kLookedThrough = 64;
/// Logarithms of smaller absolute value than this are rounded to multiples of 2^-36. Adding a double to kRounder
/// and subtracting it again does this: the last bit of numbers in [2^16, 2^17) is 2^-36.
inline constexpr double kMostRounded = 0x1p15, kRounder = 0x1.8p16;
inline double rounded_log(double x) { return x < kMostRounded && x > -kMostRounded ? (x + kRounder) - kRounder : x; }

/// Values of steps whose number is a multiple of this are shifted so that the highest is 0.
inline constexpr int64_t kStepsPerShift = 32;

/// If no logarithm is farther than kMostExact from 0, and no value of a shifted step lower than kLowestExact, no
/// sum reaches 2^17 before the next shift, so that none is rounded: 2^15 + 32 * 2 * 2^10 and one logarithm more.
inline constexpr double kMostExact = 0x1p10, kLowestExact = -0x1p15;

class ViterbiModel {
  public:
    explicit ViterbiModel(const HmmLogs &logs);

    int32_t n_states, n_symbols, stride;  ///< stride: n_states, padded
    const double *start;                  ///< [stride]
    const double *from;                   ///< [stride][stride], or [group][rows()][kGroup]
    const double *into;                   ///< [stride][stride]: those into a state lie in its row
    const double *emission;               ///< [n_symbols][stride]
    const double *reached;                ///< [stride]: -inf for states that can be reached from a state, else inf
    const int16_t *highest = nullptr;     ///< [group][rows()]: bound of the transitions into the group, in bound_steps
    double bound_steps = 0;               ///< Bounds of logarithms are whole numbers of 1 / bound_steps.
    double largest;                       ///< The highest finite logarithm without its sign.

    bool is_grouped() const { return stride >= kGroupedFrom; }
    int32_t n_groups() const { return stride / kGroup; }
    /// Predecessors of a group, padded.
    int32_t rows() const { return (stride + kLookedThrough - 1) / kLookedThrough * kLookedThrough; }

  private:
    Buffer<double> memory_;
    Buffer<int16_t> bounds_;

    void take_transitions(const HmmLogs &logs, double *from_at, double *into_at);
};

/// The steps of one sequence: codes, or frames [n, n_states].
struct ViterbiSteps {
    const uint8_t *codes;
    const double *frames;
    int64_t n;
};

}  // namespace tropalign
