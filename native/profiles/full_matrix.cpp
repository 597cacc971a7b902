#include "full_matrix.hpp"

#include <algorithm>
#include <array>

#include "../simd/denormals.hpp"
#include "../simd/dispatch.hpp"

namespace tropalign {

TROPALIGN_DISPATCH(FullMatrixKernels, full_matrix_kernels)

namespace {

constexpr int kStates = 3;  // M, D, I

/// Parallel matrices of more than this would not stay in the cache until the traces read them. Memory is allocated
/// in pieces of this size, so that a returned piece serves the next regions: fresh matrices caused a sixth of a
/// search's page faults.
constexpr size_t kMostBytes = size_t{16} << 20;

}  // namespace

// HMMER's own operations: 3 and 2 are the numbers of states that residues outside domains may be in.
ModeOdds multihit_odds(int32_t L) {
    const float move = 3.0f / (static_cast<float>(L) + 3.0f);
    return {1.0f - move, move, 0.5f, 0.5f};
}

ModeOdds unihit_odds(int32_t L) {
    const float move = 2.0f / (static_cast<float>(L) + 2.0f);
    return {1.0f - move, move, 1.0f, 0.0f};
}

int FullMatrices::most_regions(int32_t M, int32_t L) {
    const int most = selected_full_matrix_kernels()->most_regions;
    const size_t bytes = (static_cast<size_t>(L) + 1) * (static_cast<size_t>(M) + kQuad) * kStates * sizeof(float);
    return bytes * most <= kMostBytes ? most : 1;
}

void FullMatrices::fill(const SearchModel &model, std::span<const MatrixRegion> regions) {
    const DenormalsAsZero guard;
    const FullMatrixKernels &kernels = *selected_full_matrix_kernels();
    const FloatTables &tables = model.floats();
    const int quads = regions.size() > 1 ? kernels.most_regions : 1, width = quads * kQuad;
    MatrixWork work{&tables, regions.data(), static_cast<int>(regions.size()), 0, nullptr, nullptr};
    size_t n_special_rows = 0;
    for (const MatrixRegion &region : regions)
        work.n_rows = std::max(work.n_rows, region.L), n_special_rows += region.L + 1;
    const int64_t row = static_cast<int64_t>(tables.Q) * kStates * width;
    const size_t n_cells = static_cast<size_t>(work.n_rows + 1) * row;
    if (cells_.size() < n_cells) cells_ = {}, cells_ = Buffer<float>(std::max(n_cells, kMostBytes / sizeof(float)));
    if (specials_.size() < n_special_rows * kSpecials) specials_ = Buffer<float>(n_special_rows * kSpecials);

    std::vector<float *> specials;
    matrices_.clear();
    float *next = specials_.data();
    for (size_t k = 0; k < regions.size(); ++k) {
        specials.push_back(next);
        matrices_.push_back({regions[k].L, tables.Q, cells_.data() + k * kQuad, row, kStates * width, width, next});
        next += static_cast<size_t>(regions[k].L + 1) * kSpecials;
    }
    work.cells = cells_.data(), work.specials = specials.data();
    (quads > 1 ? kernels.fill : kernels.fill_one)(work);
}

}  // namespace tropalign
