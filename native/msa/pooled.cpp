#include "pooled.hpp"

#include <algorithm>
#include <bit>

#include "../compute/parallel.hpp"
#include "sparse.hpp"

namespace tropalign {

namespace {

/// The weight of a pair of members is 2^kWeightBits / number of pairs, rounded down, so that sums stay within 32 bits.
constexpr int kWeightBits = 16;

/// Current position of a pair of members in the rows.
struct Walk {
    const uint16_t *column_of_x, *column_of_x_end, *column_of_y;
    const uint16_t *row_size, *column, *value;
};

/// A row of sums, with bits for those above 0.
class Row {
  public:
    void resize(int32_t n_columns) {
        sums_.assign(n_columns, 0);
        used_.assign(n_columns / 64 + 1, 0);
    }

    void add(int32_t column, uint32_t product) {
        sums_[column] += product;
        used_[column / 64] |= uint64_t{1} << column % 64;
        low_ = std::min(low_, column / 64);
        high_ = std::max(high_, column / 64);
    }

    /// Call take(column, sum), columns ascending, and clear the row.
    template <class Take>
    void drain(Take take) {
        for (int32_t word = low_; word <= high_; ++word) {
            for (uint64_t bits = used_[word]; bits; bits &= bits - 1) {
                const int32_t column = 64 * word + std::countr_zero(bits);
                take(column, sums_[column]);
                sums_[column] = 0;
            }
            used_[word] = 0;
        }
        low_ = INT32_MAX, high_ = -1;
    }

  private:
    std::vector<uint32_t> sums_;
    std::vector<uint64_t> used_;
    int32_t low_ = INT32_MAX, high_ = -1;  // words in use
};

std::vector<Walk> walks_of(const PairPosteriors &p, const GroupColumns &groups, const GroupPairs &group_pairs,
                           int64_t g) {
    std::vector<Walk> walks;
    for (int64_t k = group_pairs.begins[g]; k < group_pairs.begins[g + 1]; ++k) {
        const int32_t x = p.pairs[2 * k], y = p.pairs[2 * k + 1];
        const int64_t element = p.element_begins[k];
        walks.push_back({groups.column_of + groups.offsets[x], groups.column_of + groups.offsets[x + 1],
                         groups.column_of + groups.offsets[y], p.row_sizes + p.row_begins[k], p.columns + element,
                         p.values + element});
    }
    return walks;
}

/// Pool the rows of one group pair.
void pool(std::vector<Walk> walks, int32_t n_rows, int cutoff, Row &row, PooledPosteriors &out) {
    const auto weight = static_cast<uint32_t>((size_t{1} << kWeightBits) / std::max<size_t>(walks.size(), 1));
    for (int32_t i = 0; i < n_rows; ++i) {
        for (Walk &walk : walks) {
            if (walk.column_of_x == walk.column_of_x_end || *walk.column_of_x != i) continue;
            ++walk.column_of_x;
            for (int e = *walk.row_size++; e > 0; --e)
                row.add(walk.column_of_y[*walk.column++], weight * *walk.value++);
        }
        const size_t had = out.columns.size();
        row.drain([&](int32_t column, uint32_t sum) {
            const auto value = (sum + (1u << (kWeightBits - 1))) >> kWeightBits;
            if (static_cast<int>(value) < cutoff) return;
            out.columns.push_back(static_cast<uint16_t>(column));
            out.values.push_back(static_cast<uint16_t>(std::min<uint32_t>(value, kPosteriorOne)));
        });
        out.row_sizes.push_back(static_cast<uint16_t>(out.columns.size() - had));
    }
}

void append(std::vector<uint16_t> &all, const std::vector<uint16_t> &more) {
    all.insert(all.end(), more.begin(), more.end());
}

}  // namespace

bool pool_posteriors(const PairPosteriors &posteriors, const GroupColumns &groups, const GroupPairs &group_pairs,
                     int cutoff, int n_threads, PooledPosteriors &out, const Poll &poll) {
    std::vector<PooledPosteriors> found(group_pairs.n);
    std::vector<Row> rows(n_threads);
    const bool done = parallel(
        n_threads, group_pairs.n, 1,
        [&](int thread, int64_t g) {
            rows[thread].resize(group_pairs.n_columns[g]);
            pool(walks_of(posteriors, groups, group_pairs, g), group_pairs.n_rows[g], std::max(cutoff, 1), rows[thread],
                 found[g]);
        },
        poll);
    for (PooledPosteriors &one : found) {
        append(out.row_sizes, one.row_sizes);
        append(out.columns, one.columns);
        append(out.values, one.values);
        one = {};
    }
    return done;
}

}  // namespace tropalign
