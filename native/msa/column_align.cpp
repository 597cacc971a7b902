#include "column_align.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "../compute/buffer.hpp"
#include "../compute/parallel.hpp"
#include "column_kernels.hpp"

namespace tropalign {
namespace {

/// All shares together: P fits an int32_t.
constexpr uint64_t kWhole = INT32_MAX;
/// Column sums of one band of rows stay in the cache while they are added up.
constexpr int64_t kBandBytes = 1 << 20;
/// Bands that several threads make side by side.
constexpr int64_t kWindowBytes = 32 << 20;
/// Directions of one block of rows.
constexpr int64_t kDirectionBytes = 64 << 20;
/// Elements of posteriors per residue, about; and how many of them are worth a thread.
constexpr int64_t kElementsPerResidue = 6, kElementsPerThread = 200'000;

struct SharedPair {
    int32_t x, y;
    uint32_t share;  // of kWhole
    SparseRows posteriors;
};

/// Weights as shares: whole numbers of the largest's 2^24th part are added up, so that no order of sums matters.
std::vector<SharedPair> shares_of(const PosteriorStore &store, const std::vector<CrossPair> &pairs) {
    double most = 0;
    for (const CrossPair &pair : pairs) most = std::max(most, pair.weight);
    auto units = [&](const CrossPair &pair) {
        return most > 0 ? static_cast<uint64_t>(pair.weight / most * (1 << 24) + 0.5) : uint64_t{1};
    };
    uint64_t total = 0;
    for (const CrossPair &pair : pairs) total += units(pair);
    std::vector<SharedPair> shared;
    shared.reserve(pairs.size());
    for (const CrossPair &pair : pairs)
        if (const auto share = static_cast<uint32_t>(units(pair) * kWhole / total))
            shared.push_back({pair.x, pair.y, share, store.rows(pair.x, pair.y)});
    return shared;
}

/// One alignment of two groups: rows of P and D from the first to the last, then the way back through the directions.
///
/// Where the directions of all rows are too many to keep, only those of one block of rows are, and D at the begin of
/// each block: on the way back a block's directions are made anew.
///
///     row    0 .. 7    8 .. 15    16 .. 19        blocks of 8 rows, bands of 2
///     D      kept ->   kept ->    kept ->         forward
///                      <- again   <- as they are  back
class ColumnAligner {
  public:
    ColumnAligner(const PosteriorStore &store, const ResidueColumns &columns, int32_t m, int32_t n,
                  const std::vector<CrossPair> &pairs, int n_threads, const Watch &watch)
        : columns_(columns), pairs_(shares_of(store, pairs)), watch_(watch), m_(m), n_(n),
          stride_((std::max<int64_t>(n, 1) + kColumnBlock - 1) / kColumnBlock * kColumnBlock),
          plane_words_(stride_ / kColumnBlock), shift_(std::bit_width(static_cast<uint32_t>(std::min(m, n)))) {
        const int64_t row_bytes = stride_ * static_cast<int64_t>(sizeof(uint32_t));
        band_rows_ = rows_within(kBandBytes, row_bytes);
        block_rows_ = rows_within(kDirectionBytes, 2 * plane_words_ * static_cast<int64_t>(sizeof(uint16_t)));
        int64_t n_elements = 0;
        for (const SharedPair &pair : pairs_) n_elements += columns.length(pair.x) * kElementsPerResidue;
        n_threads_ = useful_threads(n_threads, n_elements, kElementsPerThread);
        const int64_t n_bands = (block_rows_ + band_rows_ - 1) / band_rows_;
        window_rows_ = band_rows_;
        if (n_threads_ > 1)
            window_rows_ *= std::min(std::max<int64_t>(kWindowBytes / (band_rows_ * row_bytes), n_threads_), n_bands);
        sums_ = Buffer<uint32_t>(static_cast<size_t>(window_rows_ * stride_));
        not_diagonal_ = Buffer<uint16_t>(static_cast<size_t>(block_rows_ * plane_words_));
        not_left_ = Buffer<uint16_t>(static_cast<size_t>(block_rows_ * plane_words_));
        best_.assign(static_cast<size_t>(stride_), 0);
    }

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
    int64_t rows_within(int64_t bytes, int64_t row_bytes) const {
        return std::clamp<int64_t>(bytes / row_bytes, 8, std::max<int64_t>(m_, 8));
    }

    /// P, D and directions of the rows of a block.
    void sweep_block(int64_t block) {
        const int64_t first = block * block_rows_, last = std::min(first + block_rows_, m_);
        for (int64_t begin = first; begin < last && !watch_.is_stopped(); begin += window_rows_) {
            const int64_t end = std::min(begin + window_rows_, last);
            parallel(n_threads_, (end - begin + band_rows_ - 1) / band_rows_, 1, [&](int, int64_t band) {
                const int64_t from = begin + band * band_rows_;
                add_band(from, std::min(from + band_rows_, end), sums_.data() + (from - begin) * stride_);
            });
            sweep(begin, end, first);
        }
    }

    /// P of rows [begin, end).
    void add_band(int64_t begin, int64_t end, uint32_t *rows) const {
        std::memset(rows, 0, static_cast<size_t>((end - begin) * stride_) * sizeof(uint32_t));
        int32_t x = -1, from = 0, to = 0;
        const int32_t *x_columns = nullptr;
        for (const SharedPair &pair : pairs_) {
            if (pair.x != x) {
                if (watch_.is_stopped()) return;
                x = pair.x;
                x_columns = columns_.of(x);
                const int32_t *last = x_columns + columns_.length(x);
                from = static_cast<int32_t>(std::lower_bound(x_columns, last, begin) - x_columns);
                to = static_cast<int32_t>(std::lower_bound(x_columns + from, last, end) - x_columns);
            }
            kernels_.add_terms(pair.posteriors, pair.share, {x_columns, from, to}, columns_.of(pair.y),
                               {rows, begin, stride_});
        }
    }

    /// D of rows [begin, end), whose sums are there; directions are counted from row `first` on.
    void sweep(int64_t begin, int64_t end, int64_t first) {
        for (int64_t i = begin; i < end; ++i) {
            const auto *sums = reinterpret_cast<const int32_t *>(sums_.data() + (i - begin) * stride_);
            kernels_.next_row(best_.data(), sums, shift_, stride_, not_diagonal_.data() + (i - first) * plane_words_,
                              not_left_.data() + (i - first) * plane_words_);
        }
    }

    static bool bit(const uint16_t *plane, int64_t k) { return plane[k / kColumnBlock] >> (k % kColumnBlock) & 1; }

    /// The way back through a block from its last row and column j, the columns of the result numbered from the end.
    /// Returns the column in which it leaves the block.
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

    const ResidueColumns &columns_;
    const ColumnKernels &kernels_ = *selected_column_kernels();
    const std::vector<SharedPair> pairs_;
    const Watch &watch_;
    const int64_t m_, n_, stride_, plane_words_;
    const int shift_;
    int64_t band_rows_, block_rows_, window_rows_;
    int n_threads_;
    Buffer<uint32_t> sums_;
    Buffer<uint16_t> not_diagonal_, not_left_;
    std::vector<int32_t> best_;
};

}  // namespace

ResidueColumns::ResidueColumns(const PosteriorStore &store) : offsets_{0} {
    for (int32_t x = 0; x < store.n_sequences(); ++x) {
        for (int32_t r = 0; r < store.length(x); ++r) columns_.push_back(r);
        offsets_.push_back(static_cast<int64_t>(columns_.size()));
    }
}

std::vector<CrossPair> all_cross_pairs(const PosteriorStore &store, const AlignedGroup &first,
                                       const AlignedGroup &second, const double *weights) {
    std::vector<CrossPair> pairs;
    pairs.reserve(first.members.size() * second.members.size());
    for (int32_t x : first.members)
        for (int32_t y : second.members)
            if (store.has(x, y)) pairs.push_back({x, y, weights[x] * weights[y]});
    return pairs;
}

MergedColumns align_columns(const PosteriorStore &store, const ResidueColumns &columns, const AlignedGroup &first,
                            const AlignedGroup &second, const std::vector<CrossPair> &pairs, int n_threads,
                            const Watch &watch) {
    return ColumnAligner(store, columns, first.n_columns, second.n_columns, pairs, n_threads, watch).run();
}

void move_columns(ResidueColumns &columns, const std::vector<int32_t> &members, const std::vector<int32_t> &to) {
    for (int32_t x : members) {
        int32_t *of = columns.of(x);
        for (int32_t r = 0, n = columns.length(x); r < n; ++r) of[r] = to[of[r]];
    }
}

}  // namespace tropalign
