// The most probable path of a hidden Markov model (Viterbi 1967). With l states, all in logarithms,
//
//     A_0[s] = start[s],    A_k[s] = max over r of (V_{k-1}[r] + transition[r, s]),    V_k[s] = A_k[s] + emission_k[s]
//
// and the path is traced back from the best state of V_{n-1}: the predecessor of state s at step k is the lowest r
// whose sum is A_k[s]. No back-pointers are kept: the traceback recomputes the sums of one state per step, and
// finds the r whose sum equals A_k[s].
//
// Sums are exact. Logarithms are first rounded to multiples of 2^-36 (an error of 7e-12; a plain double loses as
// much once a score is beyond 1e5), so that sums of less than 2^17 are also multiples of 2^-36, no double rounds
// them, and they do not depend on their order: sums that tie do so in every way of computing them.
#pragma once
#include <cstdint>

#include "../compute/poll.hpp"

namespace tropalign {

/// A model in logarithms: start [l], transition [l, l] (from, to), emission [l, n_symbols] (unused with frames).
struct HmmLogs {
    int32_t n_states, n_symbols;
    const double *start, *transition, *emission;
};

/// Sequence j is [offsets[j], offsets[j + 1]) of `codes`, or of `frames` [n, l]: the emission of each state at
/// each step.
struct HmmObservations {
    const uint8_t *codes;
    const double *frames;
    const int64_t *offsets;
    int64_t n_sequences;
};

/// Decoding method of a sequence; the path is the same. All except `automatic` cut every sequence into blocks
/// (viterbi_blocks.hpp), and find the initial values of the blocks in different ways.
enum class ViterbiMethod {
    automatic,  ///< Blocks only if a sequence is long, or threads would be idle otherwise.
    sweep,      ///< Position by position.
    early,      ///< From early starts.
    products,   ///< From products of all matrices of a block: TROPMATPRODVITERBI of Hanif 2014.
};

/// Find paths, a state per step, and their scores: sums of the unrounded logarithms, from left to right. A
/// sequence without a possible path has state 0 throughout and -inf; one without steps 0. Returns false if `poll`
/// stopped it.
template <class State>
bool viterbi(const HmmLogs &logs, const HmmObservations &observations, ViterbiMethod method, int n_threads,
             State *paths, double *scores, const Poll &poll);

}  // namespace tropalign
