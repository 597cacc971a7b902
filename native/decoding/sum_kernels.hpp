// The kernels of sums over the paths of a hidden Markov model (sums.hpp), and their table per instruction set.
//
// Vectors of states are padded with zeros to a multiple of eight, and matrices are packed in tiles of 32 columns:
//
//     tile 0: row 0, columns 0..31; row 1, columns 0..31; ...      tile 1: row 0, columns 32..63; ...
//
// The last tile may have 8, 16 or 24 columns. A sum over rows consists of `partial_sums` sums, row i in sum i
// modulo that number: it depends only on the number of states, so that every instruction set rounds identically.
#pragma once
#include <cstdint>

namespace tropalign {

inline constexpr int kStateBlock = 8;
inline constexpr int kTileColumns = 32;

inline int padded_states(int n_states) { return (n_states + kStateBlock - 1) / kStateBlock * kStateBlock; }

/// Return the number of partial sums. Few columns leave the adders idle between dependent additions: then more
/// sums run in parallel.
inline int partial_sums(int padded) { return padded <= 16 ? 4 : 2; }

/// A nonzero number below this has lost, or may soon lose, digits. Its products with a probability of at least
/// 2^-122 are still normal numbers.
inline constexpr double kTiny = 0x1p-900;

/// Numbers are scaled at positions that are multiples of this. Within this many steps, if every state reaches
/// every other one with at least 2^-122, the highest number stays far above the smallest double: 4 * (122 + 1) <
/// 900.
inline constexpr int64_t kScaleEvery = 4;
/// Otherwise the highest number must not fall below this power between two scalings, or the sums are invalid.
inline constexpr int64_t kLowestPower = -400;

/// A stretch of neighbouring positions.
struct SumSteps {
    int32_t n_states, padded;
    /// True if numbers below kTiny matter; they do not if every state reaches every other one (sums.hpp).
    bool is_checked;
    /// Packed: for forward steps, row i has the probabilities of the steps from state i; for backward steps, to
    /// state i.
    const double *matrix;
    /// Row index[t] has the probabilities of the observation at position t, per state.
    const double *emissions;
    const int32_t *index;
    int64_t n_steps;
    /// The index of the first position in its sequence.
    int64_t first;
};

/// Largest number of symbols of a word (words.hpp), and number of words between two scalings.
inline constexpr int32_t kLongestHmmWord = 4;
inline constexpr int64_t kWordsPerScale = 4;

/// x is replaced by x * matrices[words[0]] * matrices[words[stride]] * ..., n of them, times 2^-exponent.
struct WordChain {
    const double *matrices;  ///< padded * padded numbers each, the rows of the state that x is multiplied with
    const int32_t *words;
    int64_t n, stride;
    double *x;
    int64_t exponent;
};

/// Streams of models with up to 16 padded states that kernels process in alternation (two take 1.3 times as long
/// as four, one twice): each waits for its previous step.
inline constexpr int kStreams = 4;

/// A stretch of one sequence during its computation.
struct SumStream {
    SumSteps steps;
    /// Forward or backward sums, padded, and room for twice as many numbers.
    double *x;
    double *rows = nullptr, *weighted = nullptr, *arriving = nullptr;
    int64_t exponent = 0;
    bool is_good = true;
};

struct HmmSumKernels {
    const char *isa;
    /// Continues each stream from the position before its stretch: x are its forward sums, times 2^exponent, and
    /// become those of the last position. `rows`, unless null, gets the sums of each position. A stream is not
    /// good if a number fell below kTiny that may matter. All streams, at most kStreams (one for more states),
    /// have one model.
    void (*forward)(SumStream *streams, int n_streams);
    /// Runs from the last position to the first. x are the backward sums of the last position, and become those of
    /// the position before the first (powers of two are lost). `rows` has the forward sums, and becomes
    /// posteriors. Unless null: `weighted` gets the forward sums divided by the sum of all paths, `arriving` the
    /// emissions times the backward sums, scaled so that the product of row t - 1 of the former, row t of the
    /// latter and a transition between them is a posterior. A stream is not good as in `forward`, or if no path is
    /// left.
    void (*backward)(SumStream *streams, int n_streams);
    /// Takes equally many steps of both, without checks and with the forward matrix for both, so that each element
    /// is read once for the two: `exponent` of x and `back_exponent` of beta are updated. `room` has 2 * padded +
    /// 8 * n_states.
    void (*both)(const SumSteps &ahead, double *x, int64_t &exponent, const SumSteps &back, double *beta,
                 int64_t &back_exponent, double *room);
    /// Processes one chain or two, which have 8 or 16 padded states.
    void (*words)(WordChain *chains, int n_chains, int32_t padded);
    /// counts[i, j] += a[t, i] * b[t, j] for all t in ascending order; all rows padded.
    void (*add_outer)(const double *a, const double *b, int64_t n_rows, int32_t padded, double *counts);
    /// Returns the sum of rows[t, s] * weights[s] over all t and s.
    double (*sum_of)(const double *rows, int64_t n_rows, const double *weights, int32_t padded);
    /// Sets rows[t, s] = exp(logs[t, s] - highest[t]), 0 in the padding. Returns false if one that is not
    /// -infinity is below exp(-600).
    bool (*emission_rows)(const double *logs, int64_t n_rows, int32_t n_states, int32_t padded, double *rows,
                          double *highest);
};

/// Return the table of the chosen instruction set.
const HmmSumKernels *selected_hmm_sum_kernels();

}  // namespace tropalign
