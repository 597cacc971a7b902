// The plain data of placement: how reads are scored, what a reference and its reads look like, and the table of kernels
// that every instruction set fills.
#pragma once
#include <bit>
#include <cstdint>
#include <vector>

namespace tropalign {

/// Scores of a read against a branch, maximised (docs/place.md; PaPaRa 2.5's are 2, 0, -3, 3, 1, 3, 1).
struct PlaceScoring {
    int32_t match, mismatch, on_gap;     // on_gap: added where a base stands in a column with the gap flag
    int32_t gap_open, gap_extend;        // costs of the first and every further column left out; none in gap columns
    int32_t insert_open, insert_extend;  // costs of the first and every further base inserted
    // The read's ends are not free (the kernel of 2012). Base b, counted from 0, stands in column b or later, so that
    // the bases before it have a column each; and so far from the end that the bases after it have one each, too.
    bool whole_read;
};

inline constexpr int kPlaceLanes = 64;
inline constexpr int kPlaceColumns = 4;
inline constexpr int kMostLack = 254;  // lanes of 8 bits hold scores that lack so much to the most that bases can score
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

/// Reads one after another, as codes.
struct ReadBatch {
    const uint8_t *codes;    // [offsets[n_reads]], below n_codes
    const int64_t *offsets;  // [n_reads + 1]
    int64_t n_reads;
    const uint32_t *sets;  // [n_codes] the states that a code stands for
    int n_codes;
};

/// What a kernel sees of a group: 64 lanes, each a branch or a bound of several (bounds.hpp).
struct LanePlanes {
    // Planes are the states; where leaving the column out costs nothing (the gap flag); and, in lanes without some gap
    // columns only, where a gap that begins costs as if it went on.
    const uint64_t *words;  // [n_columns][n_planes]
    int64_t n_columns;      // a multiple of kPlaceColumns, n_empty of them before the first
    int n_planes, n_states, n_empty;
    bool bases_are_free;  // on gap columns
    uint64_t to_end;      // the lanes whose last column is the reference's
};

/// A read whose letters are numbered by itself: few, so that a column's scores are made once for each.
struct ReadLetters {
    const uint8_t *letter;  // [length], below n_sets
    int32_t length;
    const uint32_t *sets;  // [n_sets] the states that a letter stands for
    int n_sets;
};

/// Memory of one thread.
struct PlaceScratch {
    std::vector<uint8_t> rows, profile;
};

/// Scores of 64 lanes; returns the cells computed. With `least` above 0, which wants can_prune, scores of `least` or
/// more are exact and others never too high; else all are exact. `ends`, if not null, is [n_columns / kPlaceColumns +
/// 1][64]: the best score of a read whose last base stands in these columns, and in the last entry that of a read that
/// hangs over the last column (8 and 16 bits), as exact as the scores.
using ScoreGroup = int64_t (*)(const PlaceScoring &, const LanePlanes &, const ReadLetters &, PlaceScratch &,
                               int32_t least, int32_t *score, uint16_t *ends);

/// Kernels of one instruction set.
struct PlaceKernels {
    const char *isa;
    ScoreGroup by_width[3];  // 8, 16 and 32 bits per lane

    ScoreGroup score(int word_bits) const { return by_width[std::countr_zero(static_cast<unsigned>(word_bits)) - 3]; }
};

/// Throws what selected_isa throws.
const PlaceKernels *selected_place_kernels();

}  // namespace tropalign
