// What placement hands to the kernels of an instruction set: plain data, the same for all.
#pragma once
#include <cstdint>
#include <vector>

namespace tropalign {

/// Scores of a read against a branch, maximised (docs/place.md; PaPaRa 2.5's are 2, 0, -3, 3, 1, 3, 1).
struct PlaceScoring {
    int32_t match, mismatch, on_gap;        // on_gap: added where a base stands in a column with the gap flag
    int32_t gap_open, gap_extend;           // of the first and every further column left out: costs; none in gap columns
    int32_t insert_open, insert_extend;     // of the first and every further base inserted: costs
    bool whole_read;                        // the read's ends are not free: base b stands in column b or later, and as
                                            // many columns as the read has bases too few remain (the 2012 kernel)
};

inline constexpr int kPlaceLanes = 64;
inline constexpr int kPlaceColumns = 4;

/// Columns of 64 branches: bit l of word [column][plane] is lane l's. Planes are the states; where leaving the column out
/// costs nothing (the gap flag); and, where bounds of several branches are computed, where a base costs on_gap (else the
/// gap flag again).
struct LanePlanes {
    const uint64_t *words;  // [n_columns][n_planes]
    int64_t n_columns;      // a multiple of kPlaceColumns, n_empty of them before the first
    int n_planes, n_states, n_empty;
    bool to_end;  // the last column is the reference's

    int base_plane() const { return n_planes - 1; }
};

/// A read as letters of its own: few of them, so that a column's scores are made once for each.
struct ReadLetters {
    const uint8_t *letter;    // [length], below n_sets
    int32_t length;
    const uint32_t *sets;     // [n_sets] the states that a letter stands for
    int n_sets;
};

/// Memory of one thread.
struct PlaceScratch {
    std::vector<uint8_t> rows, profile;
};

/// Scores of 64 lanes. ends, if not null: [n_columns / kPlaceColumns + 1][64], the best score of a read whose last base
/// stands in these columns, and last that of one that ends in the last column (8 and 16 bits only).
using ScoreGroup = void (*)(const PlaceScoring &, const LanePlanes &, const ReadLetters &, PlaceScratch &, int32_t *score,
                            uint16_t *ends);

struct PlaceKernels {
    const char *isa;
    ScoreGroup score8, score16, score32;
};

}  // namespace tropalign
