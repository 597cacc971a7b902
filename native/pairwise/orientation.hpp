// Choice of the sequence of a pair that is in the rows: one rule for the plans of the CPU and of GPUs.
#pragma once
#include <cstdint>

namespace tropalign {

struct Orientation {
    bool query_in_rows;
    bool mirrored;  // opposite to the tie rule (docs/scoring.md), which has the longer sequence in the rows
};

/// Return the tie rule's orientation: the longer sequence in the rows, the query if both are equally long. Used
/// for pairs that run alone.
inline Orientation longer_in_rows(int64_t query_length, int64_t target_length) {
    return {query_length >= target_length, false};
}

/// Choose the row sequence of pairs that run in parallel: the one that occurs in more than twice as many pairs as
/// the other, so that its profile (a table of its residues' scores) serves many lanes; else the longer one. Below
/// twice, a unit would gain little from the profile and lose by columns of unequal lengths.
inline Orientation orient(int64_t query_length, int64_t target_length, int64_t query_pairs, int64_t target_pairs) {
    const bool query_is_long = longer_in_rows(query_length, target_length).query_in_rows;
    const bool query_in_rows = query_pairs > 2 * target_pairs   ? true
                               : target_pairs > 2 * query_pairs ? false
                                                                : query_is_long;
    return {query_in_rows, query_in_rows != query_is_long};
}

/// Class of row lengths. Pairs that share no row sequence are sorted by this class, then by their columns: rows of one
/// class count as equally long, since at most 7 rows of padding cost less than columns of unequal lengths.
inline int64_t length_class(int64_t length) { return length / 8; }

}  // namespace tropalign
