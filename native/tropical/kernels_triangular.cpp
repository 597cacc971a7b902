// The tiles of triangular.hpp: M[i,j] = best over i <= k < j of M[i,k] + M[k+1,j].
#include <algorithm>
#include <type_traits>

#include "../simd/real.hpp"
#include "chain_block.hpp"
#include "product.hpp"
#include "triangular.hpp"

namespace tropalign::TROPALIGN_ISA {

extern const ProductTables product_tables;

namespace {

constexpr int64_t kTile = kTriangleTile;

template <Order order, class T>
[[gnu::always_inline]] inline T best_of(T a, T b) {
    return is_better<order>(a, b) ? a : b;
}

/// Compute row[j] = best(row[j], left + right[j] + share * sizes[j]) for the columns of a tile from `from` on;
/// without sizes the last term is absent.
template <Order order, class T>
[[gnu::always_inline]] inline void improve(T *row, T left, const T *right, T share, const T *sizes, int64_t from) {
    if (sizes)
        for (int64_t j = from; j < kTile; ++j)
            row[j] = best_of<order>(static_cast<T>(left + right[j] + share * sizes[j]), row[j]);
    else
        for (int64_t j = from; j < kTile; ++j) row[j] = best_of<order>(static_cast<T>(left + right[j]), row[j]);
}

/// A tile of `triangle` while it is computed; found_ is separate from M, so that weights in M stay until they are
/// added.
template <class T, Order order>
class Tile {
  public:
    Tile(const Triangle<T> &triangle, int64_t tile_row, int64_t tile_column)
        : t_(triangle), i0_(tile_row * kTile), j0_(tile_column * kTile) {
        std::fill_n(&found_[0][0], kTile * kTile, bounded_worst<T>(order));
    }

    void find() {
        if (i0_ < j0_) between();
        for (int64_t i = kTile; i-- > 0;) {
            if (i0_ < j0_) by_rows_below(i);
            else found_[i][i] = at(i0_ + i, j0_ + i);
            if (t_.closing) by_closing(i);
            along(i);
        }
        for (int64_t i = 0; i < kTile; ++i) {
            const int64_t from = i0_ < j0_ ? 0 : i;
            std::copy(found_[i] + from, found_[i] + kTile, &at(i0_ + i, j0_ + from));
        }
    }

  private:
    T &at(int64_t i, int64_t j) const { return t_.values[i * t_.size + j]; }

    /// Process all k from the last of the tile's rows to the index before its columns.
    void between() {
        const int64_t k = i0_ + kTile - 1, depth = j0_ - k;
        const T *left = &at(i0_, k), *right = &at(k + 1, j0_);
        if constexpr (std::is_same_v<T, double> && has_sizes(order))
            if (t_.sizes)
                return chain_tile(left, right, t_.size, &found_[0][0], t_.sizes + i0_, t_.sizes + k + 1,
                                  t_.sizes + j0_ + 1, depth);
        kernels_of<T>(product_tables)
            .update(order, left, t_.size, right, t_.size, &found_[0][0], kTile, kTile, kTile, depth);
    }

    const T *sizes() const { return t_.sizes ? t_.sizes + j0_ + 1 : nullptr; }
    T share(int64_t i, int64_t k) const { return t_.sizes ? static_cast<T>(t_.sizes[i] * t_.sizes[k + 1]) : T{}; }

    /// Process all k of the tile's rows except the last.
    void by_rows_below(int64_t i) {
        for (int64_t k = i; k + 1 < kTile; ++k)
            improve<order>(found_[i], at(i0_ + i, i0_ + k), found_[k + 1], share(i0_ + i, i0_ + k), sizes(), 0);
    }

    void by_closing(int64_t i) {
        const int64_t row = i0_ + i, from = std::max<int64_t>(0, row + t_.least_distance - j0_);
        const T *closing = t_.closing + t_.letters[row] * t_.size + j0_;
        if (row + 1 >= t_.size) return;
        for (int64_t j = from; j < kTile; ++j) {
            // M[i+1,j-1] is in the tile, unless i is its last row or j its first column.
            const bool is_inside = i + 1 < kTile && j > 0 && row + 1 <= j0_ + j - 1;
            const T inner = is_inside ? found_[i + 1][j - 1] : at(row + 1, j0_ + j - 1);
            found_[i][j] = best_of<order>(static_cast<T>(inner + closing[j]), found_[i][j]);
        }
    }

    /// Process all k of the tile's columns: M[i,k] is complete once those before it are.
    void along(int64_t i) {
        const bool is_first = i0_ == j0_;
        T *row = found_[i];
        for (int64_t k = is_first ? i : 0; k < kTile; ++k) {
            if (t_.is_weighted && !(is_first && k == i)) row[k] += at(i0_ + i, j0_ + k);
            if (k + 1 == kTile) break;
            const T *below = is_first ? found_[k + 1] : &at(j0_ + k + 1, j0_);
            improve<order>(row, row[k], below, share(i0_ + i, j0_ + k), sizes(), k + 1);
        }
    }

    const Triangle<T> &t_;
    const int64_t i0_, j0_;
    alignas(64) T found_[kTile][kTile];
};

template <class T>
void tile(const Triangle<T> &triangle, int64_t tile_row, int64_t tile_column) {
    with_order(triangle.order, [&]<Order order>() { Tile<T, order>(triangle, tile_row, tile_column).find(); });
}

}  // namespace

extern const TriangularKernels triangular_kernels = {tile<float>, tile<double>, tile<int32_t>, tile<int16_t>};

}  // namespace tropalign::TROPALIGN_ISA
