// What the kernels of full matrices do, and the table of them that every instruction set fills.
#pragma once
#include <cstdint>

#include "float_tables.hpp"
#include "full_matrix.hpp"

namespace tropalign {

/// Regions side by side, a quad of a vector each.
struct MatrixWork {
    const FloatTables *tables;
    const MatrixRegion *regions;
    int n_regions;
    int32_t n_rows;  ///< Residues of the longest.
    /// [n_rows + 1][Q][M, D, I][quads of the vector][kQuad]
    float *cells;
    float *const *specials;  ///< Of each region: [L + 1][kSpecials]
};

struct FullMatrixKernels {
    const char *isa;
    int most_regions;
    void (*fill)(const MatrixWork &work);
    /// The same for one region.
    void (*fill_one)(const MatrixWork &work);
};

/// The table of the chosen instruction set.
const FullMatrixKernels *selected_full_matrix_kernels();

}  // namespace tropalign
