// How many words two sequences have in common: what says that an alignment cannot be as similar as is wanted, long
// before it is made. docs/cluster.md says why.
#pragma once
#include <cstdint>

#include "tile.hpp"

namespace tropalign {

/// Letters of a word at most: a letter takes 5 bits of a number.
inline constexpr int32_t kLongestSharedWord = 12;

/// The sum over all words of `word` letters of the smaller number of copies that query and target have; never too
/// little (a few words share a place in the table). `shared` has a row per query, a column per target.
void shared_words(const Sequences &queries, const Sequences &targets, int32_t word, int n_threads, int32_t *shared);

/// Which pairs may have an alignment with `identity` of the letters of the shorter sequence in identical columns, by
/// the words that stand side by side in the target: 1 or 0, a row per query, a column per target.
///
///     target     ACGTTGCA CCATGGAT TTACGGAT ...      of words so cut, each letter that is in no identical column
///     query      ACGTTGCA CCATGCAT TTA-CGGAT         spoils one at the most, and so does each such letter of the query
///
/// `rounding` is what roundings of `identity` times a length may come to.
void similar_by_words(const Sequences &queries, const Sequences &targets, int32_t word, double identity,
                      double rounding, int n_threads, uint8_t *similar);

}  // namespace tropalign
