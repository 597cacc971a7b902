// Steps of best paths, a word of symbols at a time. With S_x[r, s] = transition[r, s] + emission_x[s], a word xy
// is the max-plus product of S_x and S_y: V after it is the maximum of V[r] + word[r, s], the work of one step for
// two. Words of three and four are products of shorter ones and symbols. If sums are exact (viterbi.hpp), the
// values equal those of single steps.
//
// The bound, for l states and words of n symbols, is l^2 / n sums and maxima per step: with eight doubles per
// vector and a sum and a maximum per cycle (Zen 5 at 3.5 GHz) .036 l^2 / n ns, if a word's matrix (8 l^2 bytes) is
// loaded from the caches meanwhile. The traceback adds l sums and comparisons per word, the score two sums per
// step.
//
// The traceback also proceeds a word at a time. A table has the states within it for each word, r and s: the best ones
// and, at ties, those with the lowest last state, then the lowest state before it, and so on, as in single steps.
#pragma once
#include <cstdint>

#include "viterbi_model.hpp"

namespace tropalign {

/// Maximum number of states of a model with words: the traceback has a bit per state.
inline constexpr int32_t kMostStatesOfWords = 64;

/// All words of one length.
struct Words {
    int64_t n_words;
    int32_t stride;
    Buffer<double> from;     ///< [word][from][to], words by their symbols, the first one the most significant
    Buffer<double> into;     ///< [word][to][from]
    Buffer<uint16_t> inner;  ///< [word][to][from]: the states within, kInnerBits each, the last the most significant

    Words(int64_t n, int32_t width);
};

/// Words of two, three or four symbols.
struct WordModel {
    int32_t length, n_symbols;
    Words words;
};

/// Make the words of a single symbol, of the first n_symbols.
Words words_of_symbols(const ViterbiModel &model, int64_t n_symbols);

/// Bits per state within a word of three or four.
inline constexpr int kInnerBits = 5;
/// Largest logarithm with which words are used. In 32 steps a value then moves by at most 2^15 relative to the
/// others. So if no value is lower than kLowestExact at each shift, single steps have not rounded any value that
/// still matters.
inline constexpr double kMostOfWords = 0x1p8;
/// Values are shifted after this many words.
inline constexpr int64_t kWordsPerShift = 8;

/// Return the best word length for n_steps steps of codes below n_symbols, for models with up to `most_states`; 1
/// if single steps are better.
int word_length(const ViterbiModel &model, int64_t n_symbols, int64_t n_steps, int32_t most_states);

}  // namespace tropalign
