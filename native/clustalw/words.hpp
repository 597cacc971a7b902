// Similarity of sequences by the words that both have (Wilbur and Lipman 1983), as CLUSTALW's quick distances use it.
#pragma once
#include <cstdint>

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

/// The same just as CLUSTALW 2.1 finds them: of diagonals with equally many words those are taken that its sort leaves
/// last, and pieces of chains beyond four times the longest sequence are not looked at.
bool clustalw_word_scores_compat(const ClustalwSequences &, const WordRules &, int n_threads, int32_t *scores,
                                 const Poll &);

}  // namespace tropalign
