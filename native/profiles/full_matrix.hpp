// Forward over parts of targets with every row kept, for stochastic traces. HMMER 3.4's numbers to the last bit,
// as in parsers.hpp.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "../compute/buffer.hpp"
#include "float_tables.hpp"
#include "parsers.hpp"

namespace tropalign {

/// The transitions of the special states, for a mode and the length of a whole target.
struct ModeOdds {
    float loop, move;          ///< N -> N, C -> C, J -> J; N -> B, C -> T, J -> B.
    float end_move, end_loop;  ///< E -> C, E -> J
};
/// Odds for any number of domains, and for one.
ModeOdds multihit_odds(int32_t L);
ModeOdds unihit_odds(int32_t L);

/// Rows 0 (before the first residue) to L. Each row, including its special states, is divided by its factor kScale
/// and by those of the rows before it.
struct FullMatrix {
    int32_t L = 0, Q = 0;
    const float *cells = nullptr;  ///< M of the first node in row 0.
    int64_t row_stride = 0;
    /// Floats from a quad (float_tables.hpp) to the next, and from M to D and from D to I.
    int32_t quad_stride = 0, state_stride = 0;
    const float *specials = nullptr;  ///< [L + 1][kSpecials]

    const float *row(int32_t i) const { return cells + i * row_stride; }
    const float *special(int32_t i) const { return specials + static_cast<int64_t>(i) * kSpecials; }
    /// Index of node k's M in a row.
    int32_t place(int32_t k) const { return (k - 1) % Q * quad_stride + (k - 1) / Q; }
};

/// Residues codes[0 .. L) of a target; the odds are those for the target's whole length.
struct MatrixRegion {
    const uint8_t *codes;
    int32_t L;
    ModeOdds odds;
};

/// The matrices of a few regions at a time, which share registers and are interleaved in memory.
class FullMatrices {
  public:
    /// Return how many regions of up to L residues run in parallel: as many as vectors hold, unless they exceed
    /// the cache.
    static int most_regions(int32_t M, int32_t L);

    /// Fill matrices for at most most_regions() regions, by the longest. Earlier matrices are lost, their memory
    /// is reused.
    void fill(const SearchModel &model, std::span<const MatrixRegion> regions);
    /// The matrix of region k.
    const FullMatrix &operator[](size_t k) const { return matrices_[k]; }

  private:
    Buffer<float> cells_, specials_;
    std::vector<FullMatrix> matrices_;
};

// The kernels of full matrices, and the table of them that every instruction set fills.

/// Regions in parallel, a quad of a vector each.
struct MatrixWork {
    const FloatTables *tables;
    const MatrixRegion *regions;
    int n_regions;
    int32_t n_rows;  ///< Residues of the longest.
    /// [n_rows + 1][Q][M, D, I][quads of the vector][kQuad]
    float *cells;
    float *const *specials;  ///< Special states of each region: [L + 1][kSpecials]
};

struct FullMatrixKernels {
    const char *isa;
    int most_regions;
    void (*fill)(const MatrixWork &work);
    /// Fills the matrix of one region.
    void (*fill_one)(const MatrixWork &work);
};

/// Return the table of the chosen instruction set.
const FullMatrixKernels *selected_full_matrix_kernels();

}  // namespace tropalign
