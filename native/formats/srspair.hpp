// Alignments in EMBOSS's srspair format.
#pragma once
#include <string>

#include "gapped.hpp"

namespace tropalign {

/// Scores have at most four decimals.
constexpr uint64_t kScoreParts = 10'000;

/// Fields of EMBOSS's srspair format for each alignment, besides its residues.
struct SrspairHeader {
    std::string scoring;        // the lines of matrix and gap costs
    std::string minus_scoring;  // the same if the query's minus strand is aligned
    const int64_t *score;       // in parts of a unit, kScoreParts each
    const int32_t *identical, *similar, *gaps;
    const int32_t *query_start, *target_start;  // 1-based numbers of the residues before the first ones shown
    const int8_t *strand;                       // null: all on the forward strand
    const char *query_names, *target_names;
    const int64_t *query_name_offsets, *target_name_offsets;
    int64_t n_queries, n_targets;
    const int64_t *query_index, *target_index;
};

/// Return the maximum number of bytes that write_srspair() fills. Throws what columns_of throws, and
/// std::invalid_argument if an alignment has no valid sequence index.
size_t bound_srspair(const AlignedRows &rows, const SrspairHeader &header);

/// Write records in EMBOSS's srspair format, 50 columns per line; return the end of the text.
char *write_srspair(const AlignedRows &rows, const SrspairHeader &header, char *out);

}  // namespace tropalign
