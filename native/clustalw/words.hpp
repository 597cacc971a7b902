// Similarity of sequences by the words that both have (Wilbur and Lipman 1983), as CLUSTALW's quick distances use it.
#pragma once
#include <cstdint>
#include <vector>

#include "pairs.hpp"

namespace tropalign {

/// A word is a run of `length` residues. The `n_top` diagonals with most words in common are taken, and `window` of
/// their neighbours on either side; the words on these are chained, and a change of the diagonal costs `gap`.
struct WordRules {
    int32_t length, gap, n_top, window;
    int32_t n_letters;  // codes from here on are in no word
};

inline constexpr int32_t kLongestClustalwWord = 8;
/// Scores have 16 bits.
inline constexpr int32_t kLongestOfWords = 65535;
/// Words that there may be: n_letters to the power of the length.
inline constexpr int64_t kMostWords = 1 << 20;

/// The best chain of each pair, in residues, in the order (0,1), (0,2) .. (1,2) ..; false when `poll` stopped it. Of
/// diagonals with equally many words the first are taken: those on which the second sequence is furthest ahead.
/// Sequences have up to kLongestOfWords residues.
bool clustalw_word_scores(const ClustalwSequences &, const WordRules &, int n_threads, int32_t *scores, const Poll &);

/// Word scores just as CLUSTALW 2.1 finds them: of diagonals with equally many words it takes those that its sort
/// leaves last, and it does not look at pieces of chains beyond four times the longest sequence.
bool clustalw_word_scores_compat(const ClustalwSequences &, const WordRules &, int n_threads, int32_t *scores,
                                 const Poll &);

// What the kernels of quick distances do, and the table of them that every instruction set fills.

/// Bytes of kNoLetter before and after a reversed sequence: two of the widest vectors.
inline constexpr int32_t kWordMargin = 128;
/// Codes that equal no other one: in a sequence as it is, and in a reversed one.
inline constexpr uint8_t kNoLetter = 254, kNoReversedLetter = 255;

/// Two sequences, the second reversed. Diagonal d, from 0 to n_a + n_b - 2, has residue i of the first beside
/// reversed[d - i]: the letters that a row of neighbouring diagonals meets lie side by side.
///
///        reversed     b4 b3 b2 b1 b0
///     a0                        0          diagonals: residue 0 meets reversed[d]
///     a1                     0  1
///     a2                  0  1  2          residue i meets what lies i further to the left
///
struct WordPair {
    const uint8_t *a;
    int32_t n_a;
    const uint8_t *reversed;
    int32_t n_b;

    int32_t n_diagonals() const { return n_a + n_b - 1; }
};

/// Neighbouring diagonals [begin, end).
struct DiagonalRange {
    int32_t begin, end;
};

/// A chain of words that is better than all that end before it: at residue `place` of the reversed sequence.
struct WordUpdate {
    int32_t row, place, score;
};

/// Memory of a thread, kept from pair to pair.
struct WordScratch {
    std::vector<int32_t> counts;  // by diagonal, and some beyond
    std::vector<uint8_t> lanes;
    std::vector<uint64_t> best;
    std::vector<WordUpdate> updates;
};

struct WordKernels {
    const char *isa;
    /// Words of `length` letters that both have, by diagonal.
    void (*count)(const WordPair &, int32_t length, WordScratch &);
    /// The first of the diagonals with most words, whose count becomes 0; -1 where none has any.
    int32_t (*take_best)(WordScratch &, int32_t n_diagonals);
    /// The best chain of words on these diagonals, which ascend, in lanes of 8 bits (255: it may be better) or 16.
    int32_t (*chain8)(const WordPair &, int32_t length, int32_t gap, const std::vector<DiagonalRange> &, WordScratch &);
    int32_t (*chain16)(const WordPair &, int32_t length, int32_t gap, const std::vector<DiagonalRange> &,
                       WordScratch &);
};

/// The table of the chosen instruction set.
const WordKernels *selected_word_kernels();

}  // namespace tropalign
