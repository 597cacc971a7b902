// Identities of the local alignments of all pairs, as CLUSTALW 2 finds them (Thompson, Higgins and Gibson 1994):
// the best local score and its end, its start, and the segment aligned in linear space (Myers and Miller 1988),
// all in integers.
//
// If several alignments have the same score, the choice among them decides how many residues are identical.
// Therefore every peculiarity of the original's recurrences is reproduced, and commented where it occurs.
#pragma once
#include <cstdint>

#include "../compute/poll.hpp"

namespace tropalign {

inline constexpr int kClustalwCodes = 32;

/// A sequence, with residues counted from 1.
struct Residues {
    const uint8_t *codes;
    int32_t length;

    uint8_t operator[](int32_t i) const { return codes[i - 1]; }
};

/// Concatenated sequences; codes are below kClustalwCodes.
struct ClustalwSequences {
    const uint8_t *codes;
    const int64_t *offsets;  // [n + 1]
    int64_t n;

    Residues operator[](int64_t k) const {
        return {codes + offsets[k], static_cast<int32_t>(offsets[k + 1] - offsets[k])};
    }
    int64_t n_pairs() const { return n * (n - 1) / 2; }
};

/// Return the offset of row i: pairs i < j of n are numbered (0,1), (0,2) .. (1,2) .., and pair (i, j) has the
/// number offset + j.
inline int64_t pair_row_begin(int64_t n, int64_t i) { return i * n - i * (i + 1) / 2 - i - 1; }

/// A gap of k residues costs gap_open[length of the shorter sequence] + k * gap_extend.
struct ClustalwScoring {
    const int32_t *matrix;    // [kClustalwCodes][kClustalwCodes]
    const int32_t *gap_open;  // [longest + 1]
    int32_t gap_extend;
};

/// Count the identical columns of each pair, in the order (0,1), (0,2) .. (1,2) ..; false if `poll` stopped it.
bool clustalw_identities(const ClustalwSequences &, const ClustalwScoring &, int n_threads, int32_t *identities,
                         const Poll &);

}  // namespace tropalign
