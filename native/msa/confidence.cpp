#include "confidence.hpp"

#include <algorithm>

namespace tropalign {
namespace {

/// Sums of integers, in any order: of posteriors (in 1 / kPosteriorOne) times units of weight, and of these units.
struct Sums {
    uint64_t posteriors = 0, weights = 0;

    float mean() const {
        if (weights == 0) return 0;
        return static_cast<float>(static_cast<double>(posteriors) / (static_cast<double>(weights) * kPosteriorOne));
    }
};

/// Convert weights to units with a sum of about 2^20: products of two, times 2^15, add up within 64 bits.
std::vector<uint64_t> units_of(const double *weights, int32_t n) {
    double sum = 0;
    for (int32_t x = 0; x < n; ++x) sum += weights[x];
    std::vector<uint64_t> units(n, 1);
    if (sum > 0)
        for (int32_t x = 0; x < n; ++x) units[x] = static_cast<uint64_t>(weights[x] / sum * (1 << 20) + 0.5);
    return units;
}

uint16_t element(const SparseRows &rows, int32_t row, int32_t column) {
    const uint16_t *begin = rows.columns + rows.starts[row], *end = rows.columns + rows.starts[row + 1];
    const uint16_t *at = std::lower_bound(begin, end, column);
    return at != end && *at == column ? rows.values[at - rows.columns] : 0;
}

/// Add to the sums the posteriors of x's residues with y's residues in the same columns.
void add_pair(const SparseRows &rows, const int32_t *x_columns, const int32_t *y_columns, uint64_t y_units,
              Sums *sums) {
    for (int32_t i = 0, j = 0; i < rows.n_rows && j < rows.n_columns;) {
        if (x_columns[i] == y_columns[j]) {
            sums[i].posteriors += y_units * element(rows, i, j);
            sums[i].weights += y_units;
        }
        const bool next_i = x_columns[i] <= y_columns[j], next_j = y_columns[j] <= x_columns[i];
        i += next_i;
        j += next_j;
    }
}

}  // namespace

Confidence alignment_confidence(const PosteriorStore &store, const ResidueColumns &columns, int32_t n_columns,
                                const double *weights, int n_threads, Watch &watch) {
    const int32_t n = store.n_sequences();
    const std::vector<uint64_t> units = units_of(weights, n);
    std::vector<Sums> of_residues(columns.all().size()), of_columns(n_columns);
    const auto first_of = [&](int32_t x) { return columns.of(x) - columns.all().data(); };
    parallel(n_threads, n, 1, [&](int, int64_t item) {
        const auto x = static_cast<int32_t>(item);
        for (int32_t y = 0; y < n && !watch.is_stopped(); ++y)
            if (y != x && store.has(x, y))
                add_pair(store.rows(x, y), columns.of(x), columns.of(y), units[y], of_residues.data() + first_of(x));
        watch.advance(1);
    });
    Confidence found;
    found.residues.reserve(of_residues.size());
    for (int32_t x = 0; x < n; ++x) {
        for (int32_t r = 0; r < columns.length(x); ++r) {
            const Sums &sums = of_residues[first_of(x) + r];
            found.residues.push_back(sums.mean());
            Sums &column = of_columns[columns.of(x)[r]];
            column.posteriors += units[x] * sums.posteriors;
            column.weights += units[x] * sums.weights;
        }
    }
    for (const Sums &sums : of_columns) found.columns.push_back(sums.mean());
    return found;
}

}  // namespace tropalign
