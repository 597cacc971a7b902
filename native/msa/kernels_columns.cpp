// Column sums and the recurrence of column_align.hpp, computed a row at a time:
//
//     D(i, j) = max(D(i-1, j-1) + P(i, j), D(i-1, j), D(i, j-1))
//
// The first two come from the row before, all lanes at once. The third makes D the running maximum of the first
// two along the row: within a vector by steps of 1, 2, 4 and 8 lanes, then with the last lane of the vector
// before.
#include "../simd/row_lanes.hpp"
#include "../simd/vec.hpp"
#include "column_path.hpp"

namespace tropalign::TROPALIGN_ISA {
namespace {

constexpr int kVectorsPerBlock = kColumnBlock / L::count;

/// Set each lane to the largest of the lanes up to it. D never decreases along a row and is 0 or more.
[[gnu::always_inline]] inline V running_max(V v) {
    const V zero{};
    v = vmax(v, shifted<1>(zero, v));
    v = vmax(v, shifted<2>(zero, v));
    if constexpr (L::count > 4) v = vmax(v, shifted<4>(zero, v));
    if constexpr (L::count > 8) v = vmax(v, shifted<8>(zero, v));
    return v;
}

void next_row(int32_t *best, const int32_t *sums, int shift, int64_t n_columns, uint16_t *not_diagonal,
              uint16_t *not_left) {
    V before_above{}, before{};  // vectors to the left, of the row above and of this row
    for (int64_t j = 0; j < n_columns; j += kColumnBlock) {
        uint32_t diagonal_bits = 0, left_bits = 0;
        for (int k = 0; k < kVectorsPerBlock; ++k) {
            int32_t *at = best + j + k * L::count;
            const V above = load<int32_t, kVectorBytes>(at);
            const V sum = load<int32_t, kVectorBytes>(sums + j + k * L::count) >> shift;
            const V diagonal = shifted<1>(before_above, above) + sum;
            const V found = vmax(running_max(vmax(diagonal, above)), last_of(before));
            store<int32_t, kVectorBytes>(at, found);
            diagonal_bits |= lane_bits(found, diagonal) << (k * L::count);
            left_bits |= lane_bits(found, shifted<1>(before, found)) << (k * L::count);
            before_above = above;
            before = found;
        }
        not_diagonal[j / kColumnBlock] = static_cast<uint16_t>(diagonal_bits);
        not_left[j / kColumnBlock] = static_cast<uint16_t>(left_bits);
    }
}

constexpr int kValueBits = 15;
static_assert(kPosteriorOne < 1 << kValueBits);

/// Elements that are added at a time, at least one; the arrays have room beyond them for the last vector of
/// row_of.
constexpr uint32_t kChunk = 512;

/// Write the offset in P of the row of each element [begin, end). Rows have few elements, and varying numbers of
/// them, so that a loop over the elements of a row is dominated by branch mispredictions. So a vector is written
/// for each row, and the next row overwrites its excess:
///
///     row r        a a a a a a a a
///     row r + 1          b b b b b b b b          row r has 3 elements
///
/// Returns the row that continues at `end`.
int32_t write_rows(const uint32_t *starts, const ResidueRange &x_residues, int32_t row, uint32_t begin, uint32_t end,
                   const SumRows &rows, int32_t *row_of) {
    for (; row < x_residues.end && starts[row] < end; ++row) {
        const auto offset = static_cast<int32_t>((x_residues.columns[row] - rows.first) * rows.stride);
        const uint32_t row_end = std::min(starts[row + 1], end);
        for (uint32_t e = std::max(starts[row], begin); e < row_end; e += L::count)
            store<int32_t, kVectorBytes>(row_of + (e - begin), splat<int32_t, kVectorBytes>(offset));
        if (starts[row + 1] > end) break;
    }
    return row;
}

void add_terms(const SparseRows &posteriors, uint32_t share, const ResidueRange &x_residues, const int32_t *y_columns,
               const SumRows &rows) {
    int32_t row_of[kChunk + L::count];
    uint32_t terms[kChunk];
    int32_t row = x_residues.begin;
    const uint32_t last = posteriors.starts[x_residues.end];
    for (uint32_t begin = posteriors.starts[row], end; begin < last; begin = end) {
        end = std::min(begin + kChunk, last);
        row = write_rows(posteriors.starts, x_residues, row, begin, end, rows, row_of);
        const uint16_t *columns = posteriors.columns + begin, *values = posteriors.values + begin;
        for (uint32_t k = 0; k < end - begin; ++k)
            terms[k] = static_cast<uint32_t>((uint64_t{share} * values[k] + (1 << (kValueBits - 1))) >> kValueBits);
        for (uint32_t k = 0; k < end - begin; ++k) rows.sums[row_of[k] + y_columns[columns[k]]] += terms[k];
    }
}

}  // namespace

#define TROPALIGN_STRING_(x) #x
#define TROPALIGN_STRING(x) TROPALIGN_STRING_(x)
extern const ColumnKernels column_kernels = {TROPALIGN_STRING(TROPALIGN_ISA), add_terms, next_row};

}  // namespace tropalign::TROPALIGN_ISA
