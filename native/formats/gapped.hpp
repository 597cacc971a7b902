// Alignments as text: the residues of both sequences with their gaps, and the line between them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tropalign {

/// Kinds of operations, as BAM codes.
inline constexpr uint32_t kInsertion = 1, kDeletion = 2, kEqual = 7, kDifferent = 8;

/// A list of alignments by their operations. Letters and codes are those of whole batches; query_begin and
/// target_begin are the starts of the aligned part of each row in them (on the aligned strand).
struct AlignedRows {
    const uint8_t *query_letters, *query_codes, *target_letters, *target_codes;
    int64_t query_size, target_size;  // residues of each batch
    const int64_t *query_begin, *target_begin;
    const uint32_t *operations;  // BAM-coded: I uses a query residue, D a target residue, = and X both
    const int64_t *offsets;      // n_rows + 1
    int64_t n_rows;
    const uint8_t *positive;  // 32 x 32 codes: 1 if a pair scores above 0; null: only identity is known
};

/// The three lines of each alignment, concatenated; row k is [offsets[k], offsets[k + 1]) of each.
struct GappedText {
    std::vector<char> query, middle, target;
    std::vector<int64_t> offsets;
};

/// Return the lines. The middle line is EMBOSS's: '|' identical, ':' similar (score above 0), '.' neither, ' ' at
/// a gap and between identical residues that do not score above 0 (X and X). Without `wants_middle` the middle
/// lines are omitted. Throws what columns_of throws.
GappedText gapped_text(const AlignedRows &rows, bool wants_middle = true);

/// Return the number of columns of an alignment. Throws std::invalid_argument if the row exceeds its sequences, or
/// has an operation other than =, X, I and D.
int64_t columns_of(const AlignedRows &rows, int64_t row);

}  // namespace tropalign
