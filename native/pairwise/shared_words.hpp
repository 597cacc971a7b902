// Number of k-mers that two sequences have in common: shows without an alignment that it cannot reach the wanted
// similarity. clusters/candidates.py has the proof.
#pragma once
#include <cstdint>

#include "tile.hpp"

namespace tropalign {

/// Maximum length of a k-mer: a residue takes 5 bits of a number.
inline constexpr int32_t kLongestSharedWord = 12;

/// For all k-mers of `word` residues, sum the smaller number of copies that query and target have; never too low
/// (a few k-mers share a slot in the table). `shared` has a row per query, a column per target.
void shared_words(const Sequences &queries, const Sequences &targets, int32_t word, int n_threads, int32_t *shared);

/// Set 1 for pairs that may have an alignment with `identity` of the residues of the shorter sequence in identical
/// columns, else 0, by the consecutive k-mers of the target; a row per query, a column per target.
///
///     target     ACGTTGCA CCATGGAT TTACGGAT ...      each target residue that is not in an identical column
///     query      ACGTTGCA CCATGCAT TTA-CGGAT         changes at most one k-mer, and so does each such
///                                                    residue of the query
///
/// `rounding` is the largest error by rounding of `identity` times a length.
void similar_by_words(const Sequences &queries, const Sequences &targets, int32_t word, double identity,
                      double rounding, int n_threads, uint8_t *similar);

}  // namespace tropalign
