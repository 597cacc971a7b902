#include "posterior_unit.hpp"

#include <algorithm>
#include <cmath>

#include "../simd/dispatch.hpp"

namespace tropalign {

TROPALIGN_DISPATCH(PosteriorKernels, posterior_kernels)

namespace {

/// Bytes of matches: a block of rows should stay in the second-level cache, a unit without blocks in the third.
constexpr int64_t kBlockBytes = 512 << 10, kWholeBytes = 8 << 20;
/// Rows may multiply a number by up to 2^23 before they are scaled. With 2^46 scaling takes hardly less time, but
/// in families with long overhangs 30 times as many pairs leave the range of floats (BAliBASE's RV40: 366 instead
/// of 11).
constexpr double kMostGrowth = 23;
constexpr int kMostRowsBetween = 16;

int rows_between(const PosteriorModel &model) {
    const double most = std::max(1.0, *std::max_element(model.growth, model.growth + 32));
    return std::clamp(2 * static_cast<int>(kMostGrowth / (2 * most)), 2, kMostRowsBetween);
}

}  // namespace

PosteriorBlocks::PosteriorBlocks(const PosteriorModel &model, int32_t m, int32_t N, int vector_bytes)
    : m(m), between(rows_between(model)), rows(m) {
    const int64_t row_bytes = 2 * int64_t{vector_bytes} * (int64_t{N} + 1);
    if (row_bytes * m > kWholeBytes) {
        // Rows that stay in the cache or, if more, about as many as make a block as large as all checkpoints.
        const int64_t by_cache = kBlockBytes / row_bytes;
        const auto by_memory = static_cast<int64_t>(std::sqrt(double{kPosteriorDown} / 2 * m) / 2);
        rows = static_cast<int32_t>(std::clamp<int64_t>(std::max(by_cache, by_memory), 1, m));
    }
    rows = (rows + between - 1) / between * between;
    count = (m + rows - 1) / rows;
}

PosteriorSizes posterior_sizes(const PosteriorBlocks &blocks, int32_t N, int vector_bytes, int lanes) {
    const size_t columns = static_cast<size_t>(N) + 1, vector = static_cast<size_t>(vector_bytes);
    PosteriorSizes sizes{};
    auto set = [&](PosteriorBuffer buffer, size_t bytes) { sizes[static_cast<size_t>(buffer)] = bytes; };
    set(PosteriorBuffer::down, kPosteriorDown * columns * vector);
    set(PosteriorBuffer::up, kPosteriorUp * columns * vector);
    set(PosteriorBuffer::kept, 2 * static_cast<size_t>(std::min(blocks.rows, blocks.m)) * columns * vector);
    set(PosteriorBuffer::checkpoints,
        static_cast<size_t>(blocks.count - 1) * (kPosteriorDown * columns + kPosteriorEdge) * vector);
    set(PosteriorBuffer::is_end, columns * vector);
    if (lanes == kPosteriorLanes) set(PosteriorBuffer::letters, columns * vector + 32 * 64 * sizeof(float));
    else set(PosteriorBuffer::letters, 32 * 2 * columns * vector);
    set(PosteriorBuffer::values, 2 * columns * vector);
    set(PosteriorBuffer::hits, 2 * 2 * (columns + 4));
    set(PosteriorBuffer::found, 4 * (kPosteriorLanes * columns + 4));
    set(PosteriorBuffer::factors, 2 * (static_cast<size_t>(blocks.m) / blocks.between + 1) * vector);
    return sizes;
}

size_t posterior_unit_bytes(const PosteriorModel &model, int32_t m, int32_t N, int vector_bytes, int lanes) {
    const PosteriorBlocks blocks(model, m, N, vector_bytes);
    size_t total = 0;
    for (const size_t bytes : posterior_sizes(blocks, N, vector_bytes, lanes))
        total += Scratch<PosteriorBuffer>::taken(bytes);
    return total;
}

}  // namespace tropalign
