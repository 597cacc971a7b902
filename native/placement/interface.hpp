// Plain data of placement: the scoring of reads, the layouts of references and reads, and the table of kernels
// that each instruction set fills.
#pragma once
#include <bit>
#include <cstdint>
#include <vector>

namespace tropalign {

/// Scores of a read against a branch, maximised (docs/place.md; PaPaRa 2.5 uses 2, 0, -3, 3, 1, 3, 1).
struct PlaceScoring {
    int32_t match, mismatch, on_gap;     // on_gap: added if a base is in a column with the gap flag
    int32_t gap_open, gap_extend;        // costs of the first and each further column left out; 0 in gap columns
    int32_t insert_open, insert_extend;  // costs of the first and each further inserted base
    // True if the read's ends are not free (the kernel of 2012). Each base before base b has a column, so b (from 0) is
    // in column b or later; and it is far enough from the end for each base after it to have one.
    bool whole_read;
};

inline constexpr int kPlaceLanes = 64;
inline constexpr int kPlaceColumns = 4;
inline constexpr int kMostLack = 254;   // 8-bit lanes hold scores at most this far below the maximum of the bases
inline constexpr int kMostStates = 31;  // a column's states and its gap flag are the bits of a uint32_t

/// Branch vectors as one bit per lane, 64 lanes in a group (made by branch_planes): bit l of
/// words[group][column][plane] belongs to vector 64 group + l. Planes are the states, then the gap flag. The first
/// n_empty columns pad the others to a multiple of kPlaceColumns.
struct ReferencePlanes {
    const uint64_t *words;  // [n_groups][n_columns][n_states + 1]
    int64_t n_vectors, n_groups, n_columns;
    int n_states, n_empty;

    const uint64_t *column(int64_t group, int64_t a) const { return words + (group * n_columns + a) * (n_states + 1); }
};

/// Concatenated reads, as residue codes.
struct ReadBatch {
    const uint8_t *codes;    // [offsets[n_reads]], below n_codes
    const int64_t *offsets;  // [n_reads + 1]
    int64_t n_reads;
    const uint32_t *sets;  // [n_codes] the states that a code stands for
    int n_codes;
};

/// A kernel's view of a group: 64 lanes, each a branch or a bound of several (bounds.hpp).
struct LanePlanes {
    // Planes are the states; the gap flag (leaving the column out costs nothing); and, only in lanes without some
    // gap columns, a flag that a gap starting here costs as much as an extended one.
    const uint64_t *words;  // [n_columns][n_planes]
    int64_t n_columns;      // a multiple of kPlaceColumns; the first n_empty of them are padding
    int n_planes, n_states, n_empty;
    bool bases_are_free;  // in gap columns
    uint64_t to_end;      // lanes whose last column is the last of the reference
};

/// A read whose distinct residues are numbered: there are few, and a column's scores are computed once for each.
struct ReadLetters {
    const uint8_t *letter;  // [length], below n_sets
    int32_t length;
    const uint32_t *sets;  // [n_sets] the states that a residue number stands for
    int n_sets;
};

/// Buffers of one thread.
struct PlaceScratch {
    std::vector<uint8_t> rows, profile;
};

/// Score 64 lanes; returns the number of cells computed. With `least` above 0, which requires can_prune, scores of
/// `least` or more are exact and others are never too high; else all are exact. `ends`, if not null, is [n_columns
/// / kPlaceColumns + 1][64]: the best score of a read whose last base is in these columns; the last entry is for a read
/// that hangs over the last column (8 and 16 bits), as exact as the scores.
using ScoreGroup = int64_t (*)(const PlaceScoring &, const LanePlanes &, const ReadLetters &, PlaceScratch &,
                               int32_t least, int32_t *score, uint16_t *ends);

/// Kernels of one instruction set.
struct PlaceKernels {
    const char *isa;
    ScoreGroup by_width[3];  // 8, 16 and 32 bits per lane

    ScoreGroup score(int word_bits) const { return by_width[std::countr_zero(static_cast<unsigned>(word_bits)) - 3]; }
};

/// Return the kernels chosen at import; throws what selected_isa throws.
const PlaceKernels *selected_place_kernels();

}  // namespace tropalign
