// Steps of best paths taken a word of symbols at a time. With S_x[r, s] = transition[r, s] + emission_x[s], a word xy
// is the max-plus product of S_x and S_y: V after it is the maximum of V[r] + word[r, s], the work of one step for two.
// Words of three and four are products of shorter ones and symbols. What products and sums are, exactly, is in
// viterbi.hpp: where sums are exact, the values are those of single steps.
//
// The bound, of l states and words of n symbols, is l^2 / n sums and maxima per step: with eight doubles per vector and
// a sum and a maximum per cycle (Zen 5 at 3.5 GHz) .036 l^2 / n ns, if a word's matrix (8 l^2 bytes) comes from the
// caches meanwhile. The way back adds l sums and comparisons per word, the score two sums per step.
//
// The way back goes a word at a time, too, and finds the states within it in a table: for each word, r and s the best
// ones, and where several are best the lowest last one, then the lowest one before it, and so on, as single steps do.
#pragma once
#include <cstdint>

#include "viterbi_model.hpp"

namespace tropalign {

/// States of a model with words, at most: the way back has a bit per state.
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

/// Words of a single symbol, of the first n_symbols.
Words words_of_symbols(const ViterbiModel &model, int64_t n_symbols);

/// Bits per state within a word of three or four.
inline constexpr int kInnerBits = 5;
/// Largest logarithm with which words are used. In 32 steps a value then moves by at most 2^15 against the others. So
/// where none is lower than kLowestExact every so often, single steps have not rounded any value that still counts.
inline constexpr double kMostOfWords = 0x1p8;
/// Values are shifted after so many words.
inline constexpr int64_t kWordsPerShift = 8;

/// How long words should be for n_steps steps of codes below n_symbols, of models with up to `most_states`; 1 where
/// single steps are better.
int word_length(const ViterbiModel &model, int64_t n_symbols, int64_t n_steps, int32_t most_states);

}  // namespace tropalign
