// Savings of a profile's column with all columns of another (formula in profile_pairs.hpp): each column's sum is added
// up in the order of the residues, on every instruction set.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "../simd/vec.hpp"
#include "column_path.hpp"
#include "profile_pairs.hpp"

namespace tropalign::TROPALIGN_ISA {
namespace {

/// Half a block of columns, in as many registers as needed.
using V = Vec<double, 64>;
static_assert(kColumnBlock == 16);
/// Columns whose squared distances are computed before their roots, so that both loops vectorise.
constexpr int64_t kChunk = 16 * kColumnBlock;

[[gnu::always_inline]] inline void subtract(V &sum, double twice, const double *shares) {
    V v;
    std::memcpy(&v, shares, sizeof v);
    sum -= twice * v;
}

/// Compute |p - q_j|^2 of `n` columns starting at `first`.
void distances_squared(const DistanceRow &row, const DistanceColumns &columns, int64_t first, int64_t n,
                       double *squared) {
    for (int64_t j = 0; j < n; j += kColumnBlock) {
        V low, high;
        std::memcpy(&low, columns.squares + first + j, sizeof low);
        std::memcpy(&high, columns.squares + first + j + 8, sizeof high);
        low += row.square;
        high += row.square;
        for (int64_t a = 0; a < row.n_letters; ++a) {
            if (row.shares[a] == 0) continue;
            const double *shares = columns.shares + a * columns.n_columns + first + j;
            subtract(low, 2 * row.shares[a], shares);
            subtract(high, 2 * row.shares[a], shares + 8);
        }
        std::memcpy(squared + j, &low, sizeof low);
        std::memcpy(squared + j + 8, &high, sizeof high);
    }
}

void savings(const DistanceRow &row, const DistanceColumns &columns, double unit, int32_t *savings) {
    double squared[kChunk];
    for (int64_t first = 0; first < columns.n_columns; first += kChunk) {
        const int64_t n = std::min(kChunk, columns.n_columns - first);
        distances_squared(row, columns, first, n, squared);
        for (int64_t k = 0; k < n; ++k) {
            const double distance = std::sqrt(squared[k] > 0 ? squared[k] : 0);
            savings[first + k] =
                static_cast<int32_t>(std::floor((row.to_blank + columns.to_blank[first + k] - distance) * unit + 0.5));
        }
    }
}

}  // namespace

#define TROPALIGN_STRING_(x) #x
#define TROPALIGN_STRING(x) TROPALIGN_STRING_(x)
extern const DistanceKernels distance_kernels = {TROPALIGN_STRING(TROPALIGN_ISA), savings};

}  // namespace tropalign::TROPALIGN_ISA
