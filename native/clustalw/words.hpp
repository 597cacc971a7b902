// Similarity of sequences by the k-mers that both have (Wilbur and Lipman 1983), as CLUSTALW's quick distances use
// it.
#pragma once
#include <cstdint>
#include <vector>

#include "pairs.hpp"

namespace tropalign {

/// A k-mer is a run of `length` residues. The `n_top` diagonals with most k-mers in common are taken, and `window`
/// of their neighbours on either side; the k-mers on these diagonals are chained, and a change of diagonal costs `gap`.
struct WordRules {
    int32_t length, gap, n_top, window;
    int32_t n_letters;  // codes from here on are in no k-mer
};

inline constexpr int32_t kLongestClustalwWord = 8;
/// Longest sequence, because scores have 16 bits.
inline constexpr int32_t kLongestOfWords = 65535;
/// Largest supported number of distinct k-mers, n_letters^length.
inline constexpr int64_t kMostWords = 1 << 20;

/// Find the best chain of each pair, in residues, in the order (0,1), (0,2) .. (1,2) ..; false if `poll` stopped
/// it. Of diagonals with equally many k-mers the first are taken, where the second sequence is furthest ahead.
/// Sequences have up to kLongestOfWords residues.
bool clustalw_word_scores(const ClustalwSequences &, const WordRules &, int n_threads, int32_t *scores, const Poll &);

/// Compute the scores exactly as CLUSTALW 2.1 does: of diagonals with equally many k-mers it takes those that its
/// sort leaves last, and it ignores pieces of chains beyond four times the longest sequence.
bool clustalw_word_scores_compat(const ClustalwSequences &, const WordRules &, int n_threads, int32_t *scores,
                                 const Poll &);

// Interface of the quick distance kernels, and the table of them that each instruction set fills.

/// Bytes of padding before and after a reversed sequence: two of the widest vectors.
inline constexpr int32_t kWordMargin = 128;
/// Codes that equal no other one, in a forward and in a reversed sequence.
inline constexpr uint8_t kNoLetter = 254, kNoReversedLetter = 255;

/// Two sequences, the second reversed. Diagonal d, from 0 to n_a + n_b - 2, pairs residue i of the first with
/// reversed[d - i]: the residues that a row of neighbouring diagonals uses are adjacent.
///
///        reversed     b4 b3 b2 b1 b0
///     a0                        0          diagonals: residue 0 is paired with reversed[d]
///     a1                     0  1
///     a2                  0  1  2          residue i: shifted by i to the left
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

/// A chain of k-mers that is better than all that end before it: at residue `place` of the reversed sequence.
struct WordUpdate {
    int32_t row, place, score;
};

/// Buffers of a thread, reused for all pairs.
struct WordScratch {
    std::vector<int32_t> counts;  // by diagonal, with padding
    std::vector<uint8_t> lanes;
    std::vector<uint64_t> best;
    std::vector<WordUpdate> updates;
};

struct WordKernels {
    const char *isa;
    /// Count the k-mers of `length` residues that both have, by diagonal.
    void (*count)(const WordPair &, int32_t length, WordScratch &);
    /// Return the first of the diagonals with most k-mers, and set its count to 0; -1 if all counts are 0.
    int32_t (*take_best)(WordScratch &, int32_t n_diagonals);
    /// Find the best chain of k-mers on these ascending diagonals, in lanes of 8 bits (255: it may be better) or
    /// 16.
    int32_t (*chain8)(const WordPair &, int32_t length, int32_t gap, const std::vector<DiagonalRange> &, WordScratch &);
    int32_t (*chain16)(const WordPair &, int32_t length, int32_t gap, const std::vector<DiagonalRange> &,
                       WordScratch &);
};

/// Return the table of the chosen instruction set.
const WordKernels *selected_word_kernels();

}  // namespace tropalign
