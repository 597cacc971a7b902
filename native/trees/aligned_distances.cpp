#include "aligned_distances.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <vector>

#include "../compute/parallel.hpp"
#include "../simd/dispatch.hpp"

namespace tropalign {

// Distances by Dayhoff's model of protein evolution (Dayhoff, Schwartz and Orcutt 1978) from observed differences.

/// Range of the shares of differing residues in the table, in steps of 0.001.
inline constexpr double kDayhoffFrom = 0.75, kDayhoffTo = 0.93;
/// Accepted point mutations per 100 residues; the numbers are those published with CLUSTAL W.
inline constexpr int16_t kDayhoffPams[] = {
    195, 196, 197, 198, 199, 200, 200, 201, 202, 203, 204, 205, 206, 207, 208, 209, 209, 210, 211, 212, 213, 214, 215,
    216, 217, 218, 219, 220, 221, 222, 223, 224, 226, 227, 228, 229, 230, 231, 232, 233, 234, 236, 237, 238, 239, 240,
    241, 243, 244, 245, 246, 248, 249, 250, 252, 253, 254, 255, 257, 258, 260, 261, 262, 264, 265, 267, 268, 270, 271,
    273, 274, 276, 277, 279, 281, 282, 284, 285, 287, 289, 291, 292, 294, 296, 298, 299, 301, 303, 305, 307, 309, 311,
    313, 315, 317, 319, 321, 323, 325, 328, 330, 332, 335, 337, 339, 342, 344, 347, 349, 352, 354, 357, 360, 362, 365,
    368, 371, 374, 377, 380, 383, 386, 389, 393, 396, 399, 403, 407, 410, 414, 418, 422, 426, 430, 434, 438, 442, 447,
    451, 456, 461, 466, 471, 476, 482, 487, 493, 498, 504, 511, 517, 524, 531, 538, 545, 553, 560, 569, 577, 586, 595,
    605, 615, 626, 637, 649, 661, 675, 688, 703, 719, 736, 754, 775, 796, 819, 845, 874, 907, 945, 988};

TROPALIGN_DISPATCH(ColumnCountKernels, column_count_kernels)

namespace {

constexpr double kNoDistance = std::numeric_limits<double>::infinity();
/// Rows of a block that are compared with as many others, so that both stay in the cache.
constexpr int64_t kSide = 64;

double kimura(double p) {
    if (p < kDayhoffFrom) return -std::log(1 - p - p * p / 5);
    const auto at = static_cast<int64_t>(p * 1000.0 - kDayhoffFrom * 1000.0);
    return at < static_cast<int64_t>(std::size(kDayhoffPams)) && p <= kDayhoffTo ? kDayhoffPams[at] / 100.0
                                                                                 : kNoDistance;
}

double jukes_cantor(double p) { return p < 0.75 ? -0.75 * std::log(1 - p * 4 / 3) : kNoDistance; }

double kimura_two(double transitions, double transversions) {
    const double a = 1 - 2 * transitions - transversions, b = 1 - 2 * transversions;
    return a > 0 && b > 0 ? -0.5 * std::log(a) - 0.25 * std::log(b) : kNoDistance;
}

/// kSide rows and as many that they are compared with: the index of the first of each.
struct Block {
    int64_t rows, others;
};

std::vector<Block> blocks_of(int64_t n_rows) {
    std::vector<Block> blocks;
    for (int64_t first = 0; first < n_rows; first += kSide)
        for (int64_t second = first; second < n_rows; second += kSide) blocks.push_back({first, second});
    return blocks;
}

void write_block(const CodedRows &rows, DistanceModel model, Block block, double *distances) {
    const ColumnCountKernels *kernels = selected_column_count_kernels();
    const int64_t n = rows.n_rows();
    ColumnCounts counts[kSide];
    for (int64_t i = block.rows; i < std::min(block.rows + kSide, n); ++i) {
        const int64_t begin = std::max(block.others, i + 1), count = std::min(block.others + kSide, n) - begin;
        if (count <= 0) continue;
        kernels->count(rows.row(i), rows.row(begin), count, rows.width(), counts);
        double *out = distances + i * (2 * n - i - 1) / 2 + (begin - i - 1);
        for (int64_t k = 0; k < count; ++k) out[k] = distance_of(counts[k], model);
    }
}

}  // namespace

CodedRows::CodedRows(int64_t n_rows, int64_t n_columns)
    : n_rows_(n_rows), width_((n_columns + kColumnsAtOnce - 1) / kColumnsAtOnce * kColumnsAtOnce),
      codes_(static_cast<size_t>(n_rows_ * width_)) {
    std::memset(codes_.data(), kNotCompared, codes_.size());
}

CodedRows CodedRows::copied(const uint8_t *codes, int64_t n_rows, int64_t n_columns) {
    CodedRows rows(n_rows, n_columns);
    for (int64_t k = 0; k < n_rows; ++k)
        std::copy_n(codes + k * n_columns, n_columns, rows.codes_.data() + k * rows.width_);
    return rows;
}

void CodedRows::take_columns(const CodedRows &rows, const int32_t *columns, int64_t count) {
    for (int64_t k = 0; k < n_rows_; ++k) {
        const uint8_t *from = rows.row(k);
        uint8_t *to = codes_.data() + k * width_;
        for (int64_t c = 0; c < count; ++c) to[c] = from[columns[c]];
    }
}

double distance_of(const ColumnCounts &counts, DistanceModel model) {
    if (counts.compared == 0) return std::numeric_limits<double>::quiet_NaN();
    const double compared = counts.compared, differing = counts.compared - counts.equal, p = differing / compared;
    if (differing == 0) return 0;
    switch (model) {
        case DistanceModel::identity:
            return p;
        case DistanceModel::kimura:
            return kimura(p);
        case DistanceModel::jc69:
            return jukes_cantor(p);
        default:
            return kimura_two(counts.transitions / compared, (differing - counts.transitions) / compared);
    }
}

int64_t n_distance_blocks(int64_t n_rows) {
    const int64_t n_blocks = (n_rows + kSide - 1) / kSide;
    return n_blocks * (n_blocks + 1) / 2;
}

bool aligned_distances(const CodedRows &rows, DistanceModel model, int n_threads, double *distances, const Poll &poll) {
    const std::vector<Block> blocks = blocks_of(rows.n_rows());
    const auto work = [&](int, int64_t item) { write_block(rows, model, blocks[item], distances); };
    return parallel(n_threads, static_cast<int64_t>(blocks.size()), 1, work, poll);
}

void aligned_distances(const CodedRows &rows, DistanceModel model, double *distances) {
    for (const Block &block : blocks_of(rows.n_rows())) write_block(rows, model, block, distances);
}

}  // namespace tropalign
