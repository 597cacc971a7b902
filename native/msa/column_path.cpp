#include "column_path.hpp"

#include <algorithm>
#include <utility>

#include "../compute/buffer.hpp"

namespace tropalign {
namespace {

/// Bytes of the directions of one block of rows.
constexpr int64_t kDirectionBytes = 64 << 20;

int64_t plane_words(int64_t n) { return row_stride(n) / kColumnBlock; }

/// Computes rows of P and D from the first to the last, then traces back through the directions.
///
/// If the directions of all rows do not fit, only those of one block of rows are kept, and D at the start of each
/// block: during the traceback a block's directions are computed again.
///
///     row    0 .. 7    8 .. 15    16 .. 19        blocks of 8 rows, windows of 2
///     D      kept ->   kept ->    kept ->         forward
///                      <- again   <- as they are  back
class ColumnPath {
  public:
    ColumnPath(const ColumnSums &sums, const Watch &watch)
        : sums_(sums), watch_(watch), m_(sums.m), n_(sums.n), stride_(row_stride(sums.n)),
          plane_words_(plane_words(sums.n)), block_rows_(rows_of_a_block(sums.m, sums.n)),
          rows_(static_cast<size_t>(sums.window_rows * stride_)),
          not_diagonal_(static_cast<size_t>(block_rows_ * plane_words_)),
          not_left_(static_cast<size_t>(block_rows_ * plane_words_)), best_(static_cast<size_t>(stride_), 0) {}

    MergedColumns run() {
        const int64_t n_blocks = (m_ + block_rows_ - 1) / block_rows_;
        std::vector<std::vector<int32_t>> kept;  // D above each block
        for (int64_t block = 0; block < n_blocks && !watch_.is_stopped(); ++block) {
            kept.push_back(best_);
            sweep_block(block);
        }
        MergedColumns merged{std::vector<int32_t>(m_), std::vector<int32_t>(n_), 0};
        int64_t j = n_;
        for (int64_t block = n_blocks - 1; block >= 0 && !watch_.is_stopped(); --block) {
            if (block < n_blocks - 1) {
                best_ = std::move(kept[block]);
                sweep_block(block);
            }
            j = walk_block(block, j, merged);
        }
        while (j > 0) merged.second[--j] = merged.n_columns++;
        for (int32_t &column : merged.first) column = merged.n_columns - 1 - column;
        for (int32_t &column : merged.second) column = merged.n_columns - 1 - column;
        return merged;
    }

  private:
    /// Compute P, D and directions of the rows of a block.
    void sweep_block(int64_t block) {
        const int64_t first = block * block_rows_, last = std::min(first + block_rows_, m_);
        for (int64_t begin = first; begin < last && !watch_.is_stopped(); begin += sums_.window_rows) {
            const int64_t end = std::min(begin + sums_.window_rows, last);
            sums_.fill(begin, end, rows_.data(), stride_);
            sweep(begin, end, first);
        }
    }

    /// Compute D of rows [begin, end) from their sums; directions are counted from row `first`.
    void sweep(int64_t begin, int64_t end, int64_t first) {
        for (int64_t i = begin; i < end; ++i) {
            const auto *row = reinterpret_cast<const int32_t *>(rows_.data() + (i - begin) * stride_);
            kernels_.next_row(best_.data(), row, sums_.shift, stride_,
                              not_diagonal_.data() + (i - first) * plane_words_,
                              not_left_.data() + (i - first) * plane_words_);
        }
    }

    static bool bit(const uint16_t *plane, int64_t k) { return plane[k / kColumnBlock] >> (k % kColumnBlock) & 1; }

    /// Trace back through a block from its last row and column j, numbering the columns of the result from the
    /// end. Returns the column in which the path leaves the block.
    int64_t walk_block(int64_t block, int64_t j, MergedColumns &merged) {
        const int64_t first = block * block_rows_;
        for (int64_t i = std::min(first + block_rows_, m_); i > first; ++merged.n_columns) {
            const int64_t row = (i - 1 - first) * plane_words_;
            const bool is_diagonal = j > 0 && !bit(not_diagonal_.data() + row, j - 1);
            const bool is_left = !is_diagonal && j > 0 && !bit(not_left_.data() + row, j - 1);
            if (!is_left) merged.first[--i] = merged.n_columns;
            if (is_diagonal || is_left) merged.second[--j] = merged.n_columns;
        }
        return j;
    }

    const ColumnSums &sums_;
    const ColumnKernels &kernels_ = *selected_column_kernels();
    const Watch &watch_;
    const int64_t m_, n_, stride_, plane_words_, block_rows_;
    Buffer<uint32_t> rows_;
    Buffer<uint16_t> not_diagonal_, not_left_;
    std::vector<int32_t> best_;
};

}  // namespace

int64_t row_stride(int64_t n) { return (std::max<int64_t>(n, 1) + kColumnBlock - 1) / kColumnBlock * kColumnBlock; }

int64_t rows_of_a_block(int64_t m, int64_t n) {
    const int64_t row_bytes = 2 * plane_words(n) * static_cast<int64_t>(sizeof(uint16_t));
    return std::clamp<int64_t>(kDirectionBytes / row_bytes, 8, std::max<int64_t>(m, 8));
}

MergedColumns best_columns(const ColumnSums &sums, const Watch &watch) { return ColumnPath(sums, watch).run(); }

}  // namespace tropalign
