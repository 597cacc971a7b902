// Residues that every good global alignment of two similar sequences pairs with the same residue.
//
// Sequence x has m residues, y has n. The loss of an alignment is the sum over its parts:
//
//     pair (x_i, y_j)                  pair[x_i][y_j]
//     gap inside, with k residues      open + the sum of gap[] of the residues
//     overhang at either end           the sum of end[] of the residues; of x, y or neither
//
// All numbers are at least 0, and gap[] is at least end[]. With the lowest loss L, row i is certain if all alignments
// of a loss of at most L + slack pair x_i with the same residue of y.
//
// Let G(i, j) be the lowest loss of the rest behind corner (i, j), H(i, j) that of the part before it. A pair (i, j) is
// in an alignment of loss <= L + slack if and only if H(i-1, j-1) + pair + G(i, j) <= L + slack; the
// gaps of row i have the same condition. Losses only grow along an alignment, so that cells with G > L + slack are
// never needed:
//
//     1. G from the last row to the first, in the range of diagonals where G <= most - B; every 2^b-th row is kept
//     2. H from the first row to the last, where H + G <= L + slack + open; G is computed again block by block,
//        where G <= L + slack + open - the larger of B and the lowest H above the block
//
// B is the lowest loss of |j - i| unpaired residues, which are in the part before the corner at least. So the sequences
// may differ much in length: a fragment, and a sequence that begins late, have few cells.
//
// The result is exact if L + slack <= most; otherwise the pair is given up. A lane per pair; all pairs have the same x.
#pragma once
#include <cstdint>
#include <vector>

#include "../compute/buffer.hpp"
#include "../compute/poll.hpp"

namespace tropalign {

inline constexpr int kCertainCodes = 32;
/// Greater than any loss; a sum of three of them fits.
inline constexpr int32_t kNoLoss = int32_t{1} << 28;
/// Maximum of each number of a loss.
inline constexpr int32_t kMostLoss = 2000;
/// Most residues of a sequence.
inline constexpr int64_t kLongestCertain = 4'000'000;

struct Losses {
    const int32_t *pair;  // [n_codes][n_codes]
    const int32_t *gap;   // [n_codes]
    const int32_t *end;   // [n_codes]
    int n_codes;
    int32_t open, slack;
};

/// Up to 16 sequences y in the lanes, and their results.
struct CertainLanes {
    int n;
    const uint8_t *codes[16];
    int32_t length[16];
    int32_t most[16];         // greatest loss, slack included
    int32_t loss[16];         // the lowest loss, or -1 if it and the slack exceed `most`
    int32_t *column[16];      // [m]: residue of y that a best alignment pairs with each residue of x, or -1
    uint8_t *is_certain[16];  // [m]
};

/// Memory of one thread.
struct CertainScratch {
    Buffer<int32_t> pair, gap, paired, rest, rest_gap, before, before_gap, border;
    std::vector<int32_t> kept, block;
};

struct CertainKernels {
    const char *isa;
    int n_lanes;
    void (*run)(const Losses &, const uint8_t *x, int32_t m, CertainLanes &, CertainScratch &);
};

const CertainKernels *selected_certain_kernels();

/// The sequences of some pairs, and their results, one after another.
struct CertainRequest {
    const uint8_t *codes;
    const int64_t *offsets;
    int64_t x;
    const int32_t *ys, *most;  // [n_pairs]
    int64_t n_pairs;
};

/// Compute loss[n_pairs], column[n_pairs][m] and is_certain[n_pairs][m].
bool certain_pairs(const CertainRequest &, const Losses &, int n_threads, int32_t *loss, int32_t *column,
                   uint8_t *is_certain, const Poll &);

}  // namespace tropalign
