#include "column_align.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "../compute/parallel.hpp"
#include "../simd/dispatch.hpp"
#include "column_path.hpp"

namespace tropalign {

TROPALIGN_DISPATCH(ColumnKernels, column_kernels)

namespace {

/// Sum of all shares: P fits an int32_t.
constexpr uint64_t kWhole = INT32_MAX;
/// Bytes of a band of rows, whose column sums stay in the cache while they are added up.
constexpr int64_t kBandBytes = 1 << 20;
/// Size of the bands that several threads compute in parallel.
constexpr int64_t kBandWindowBytes = 32 << 20;
/// Approximate elements of posteriors per residue; fewest elements for which a further thread pays.
constexpr int64_t kElementsPerResidue = 6, kElementsPerThread = 200'000;

struct SharedPair {
    int32_t x, y;
    uint32_t share;  // of kWhole
    SparseRows posteriors;
};

/// Convert weights to shares: multiples of 2^-24 of the largest weight are added, so that the order of sums does
/// not matter.
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

/// Rows of P, computed in bands that stay in the cache, by several threads.
class SumsOfPairs {
  public:
    SumsOfPairs(const PosteriorStore &store, const ResidueColumns &columns, int32_t m, int32_t n,
                const std::vector<CrossPair> &pairs, int n_threads, const Watch &watch)
        : columns_(columns), pairs_(shares_of(store, pairs)), watch_(watch) {
        const int64_t row_bytes = row_stride(n) * static_cast<int64_t>(sizeof(uint32_t));
        band_rows_ = std::clamp<int64_t>(kBandBytes / row_bytes, 8, std::max<int64_t>(m, 8));
        int64_t n_elements = 0;
        for (const SharedPair &pair : pairs_) n_elements += columns.length(pair.x) * kElementsPerResidue;
        n_threads_ = useful_threads(n_threads, n_elements, kElementsPerThread);
        const int64_t n_bands = (rows_of_a_block(m, n) + band_rows_ - 1) / band_rows_;
        window_rows_ = band_rows_;
        if (n_threads_ > 1)
            window_rows_ *=
                std::min(std::max<int64_t>(kBandWindowBytes / (band_rows_ * row_bytes), n_threads_), n_bands);
    }

    int64_t window_rows() const { return window_rows_; }

    /// Compute P of rows [begin, end), `stride` apart.
    void fill(int64_t begin, int64_t end, uint32_t *rows, int64_t stride) const {
        parallel(n_threads_, (end - begin + band_rows_ - 1) / band_rows_, 1, [&](int, int64_t band) {
            const int64_t from = begin + band * band_rows_;
            add_band(from, std::min(from + band_rows_, end), rows + (from - begin) * stride, stride);
        });
    }

  private:
    void add_band(int64_t begin, int64_t end, uint32_t *rows, int64_t stride) const {
        std::memset(rows, 0, static_cast<size_t>((end - begin) * stride) * sizeof(uint32_t));
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
                               {rows, begin, stride});
        }
    }

    const ResidueColumns &columns_;
    const ColumnKernels &kernels_ = *selected_column_kernels();
    const std::vector<SharedPair> pairs_;
    const Watch &watch_;
    int64_t band_rows_, window_rows_;
    int n_threads_;
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
    const int32_t m = first.n_columns, n = second.n_columns;
    const SumsOfPairs sums(store, columns, m, n, pairs, n_threads, watch);
    const int shift = std::bit_width(static_cast<uint32_t>(std::min(m, n)));
    auto fill = [&](int64_t begin, int64_t end, uint32_t *rows, int64_t stride) {
        sums.fill(begin, end, rows, stride);
    };
    return best_columns({m, n, sums.window_rows(), shift, fill}, watch);
}

void move_columns(ResidueColumns &columns, const std::vector<int32_t> &members, const std::vector<int32_t> &to) {
    for (int32_t x : members) {
        int32_t *of = columns.of(x);
        for (int32_t r = 0, n = columns.length(x); r < n; ++r) of[r] = to[of[r]];
    }
}

}  // namespace tropalign
