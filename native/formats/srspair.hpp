// Alignments in EMBOSS's srspair format.
#pragma once
#include <string>

#include "gapped.hpp"

namespace tropalign {

/// Scores have four decimals at most.
constexpr uint64_t kScoreParts = 10'000;

/// What EMBOSS's srspair format says of each alignment beside its letters.
struct SrspairHeader {
    std::string scoring;        // the lines of matrix and gap costs
    std::string minus_scoring;  // the same where the query's minus strand is aligned
    const int64_t *score;       // in parts of a unit, kScoreParts each
    const int32_t *identical, *similar, *gaps;
    const int32_t *query_start, *target_start;  // 1-based numbers of the residues before the first ones shown
    const int8_t *strand;                       // null: all on the forward strand
    const char *query_names, *target_names;
    const int64_t *query_name_offsets, *target_name_offsets;
    int64_t n_queries, n_targets;
    const int64_t *query_index, *target_index;
};

/// Bytes that write_srspair() fills at most. Throws what columns_of throws, and std::invalid_argument on
/// an alignment that names no sequence.
size_t bound_srspair(const AlignedRows &rows, const SrspairHeader &header);

/// Records in EMBOSS's srspair format, 50 columns per line; returns the end of the text.
char *write_srspair(const AlignedRows &rows, const SrspairHeader &header, char *out);

}  // namespace tropalign
