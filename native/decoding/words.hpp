// Forward and backward sums of long sequences by models with few states, a word of up to four symbols at a time. A
// step from x(t - 1) to x(t) is a product with the matrix S_c[i, j] = p(i, j) e(j, c) of the symbol c at t, and
// products are associative. So the product of each word of some length is computed once,
//
//     x * S_a * S_c * S_g * S_t = x * (S_a S_c S_g S_t) = x * word[acgt]        word[acgt] * beta   similarly
//
// so that four symbols take one product, and products wait for each other a fourth as often. Sums are then known
// only at the ends of stretches, where they are needed (ends.hpp).
//
// Within 16 steps the highest number must stay far above the smallest double, and a lost number must not matter
// (sums.hpp): words are for models in which every state reaches every other one with at least 2^-40: 16 * (40 + 1)
// < 900.
#pragma once
#include <cstdint>
#include <vector>

#include "sums.hpp"

namespace tropalign {

/// The matrices of all words of one length. Words are numbered by their symbols, the first one the most
/// significant.
struct WordTable {
    Lined ahead;                  ///< [word][state before][state after], padded
    Lined back;                   ///< [word][state after][state before]
    std::vector<int32_t> powers;  ///< power of two taken out of all emissions of each word
};

class HmmWords {
  public:
    explicit HmmWords(const HmmModel &model);

    /// True if a model can use words, and if they pay for a sequence.
    static bool suit(const HmmModel &model);
    static bool pay(int64_t length);

    int32_t length() const { return length_; }
    const WordTable &symbols() const { return symbols_; }
    const WordTable &words() const { return words_; }

  private:
    int32_t length_ = 1;
    WordTable symbols_, words_;
};

}  // namespace tropalign
