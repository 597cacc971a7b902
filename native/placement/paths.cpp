// Columns of a read's best alignment with a branch.
#include <algorithm>

#include "../compute/parallel.hpp"
#include "scores.hpp"

namespace tropalign {

void vector_of_lane(const ReferencePlanes &planes, int64_t vector, uint32_t *out) {
    const uint64_t *word = planes.column(vector / kPlaceLanes, planes.n_empty);
    for (int64_t a = planes.n_empty; a < planes.n_columns; ++a, word += planes.n_states + 1) {
        uint32_t value = 0;
        for (int plane = 0; plane <= planes.n_states; ++plane)
            value |= static_cast<uint32_t>(word[plane] >> vector % kPlaceLanes & 1) << plane;
        *out++ = value;
    }
}

namespace {

// Traceback bits of a cell: the direction that its best score came from (the bits of kStep), and whether the gaps
// that reached it from the left and from above were extended rather than opened.
constexpr uint8_t kDiagonal = 0, kLeft = 1, kUp = 2, kStep = 3, kStaysLeft = 4, kStaysUp = 8;
constexpr int32_t kImpossible = -(1 << 29);  // as in the kernels of 32 bits

/// The whole matrix of one read against one branch, one byte per cell.
class Path {
  public:
    /// `vector` has n_columns; to_end: the last of them is the last of the reference.
    Path(const PlaceScoring &scoring, const uint32_t *vector, int64_t n_columns, bool to_end, int n_states,
         const ReadBatch &reads, int64_t k)
        : s_(scoring), vector_(vector), n_columns_(n_columns), to_end_(to_end), gap_bit_(1u << n_states), reads_(reads),
          first_(reads.offsets[k]), n_bases_(reads.offsets[k + 1] - first_) {}

    /// Fill the matrix, store the best cell, and return its score.
    int32_t fill(std::vector<uint8_t> &cells, std::vector<int32_t> &h, std::vector<int32_t> &f) {
        cells.resize(static_cast<size_t>(n_bases_ * n_columns_));
        h.assign(n_columns_ + 1, 0), f.assign(n_columns_ + 1, kImpossible);
        int32_t best = kImpossible;
        for (int64_t b = 0; b < n_bases_; ++b) {
            const bool last_row = b == n_bases_ - 1;
            fill_row(b, &cells[b * n_columns_], h.data(), f.data());
            if (!last_row && (!to_end_ || s_.whole_read)) continue;  // bases remain, and must not hang over the end
            for (int64_t a = last_row ? 0 : n_columns_ - 1; a < n_columns_; ++a)
                if (h[a + 1] > best) best = h[a + 1], end_base_ = b, end_column_ = a;
        }
        if (best < 0 && !s_.whole_read) best = 0, end_base_ = end_column_ = -1;  // better to overlap nothing
        return best;
    }

    /// Trace back from the best cell.
    void walk(const std::vector<uint8_t> &cells, int32_t *column) const {
        std::fill(column, column + n_bases_, -1);
        int64_t b = end_base_, a = end_column_;
        uint8_t within = kDiagonal;
        while (b >= 0 && a >= 0) {
            const uint8_t cell = cells[b * n_columns_ + a];
            const uint8_t step = within != kDiagonal ? within : cell & kStep;
            if (step == kLeft) {
                --a;
                within = cell & kStaysLeft ? kLeft : kDiagonal;
            } else if (step == kUp) {
                --b;
                within = cell & kStaysUp ? kUp : kDiagonal;
            } else {
                column[b--] = static_cast<int32_t>(a--);
            }
        }
    }

  private:
    /// Replace h[a + 1] and f[a + 1] by the values of row b.
    void fill_row(int64_t b, uint8_t *cells, int32_t *h, int32_t *f) const {
        const uint32_t set = reads_.sets[reads_.codes[first_ + b]];
        const int64_t spare = n_columns_ - n_bases_;
        int32_t e = kImpossible, diagonal = h[0];
        h[0] = s_.whole_read ? kImpossible : 0;
        int32_t left = h[0];
        for (int64_t a = 0; a < n_columns_; ++a) {
            const uint32_t branch = vector_[a];
            const bool gap = branch & gap_bit_;
            const int32_t open = left - (gap ? 0 : s_.gap_open), extend = e - (gap ? 0 : s_.gap_extend);
            const int32_t insert = h[a + 1] - s_.insert_open, further = f[a + 1] - s_.insert_extend;
            const int32_t paired = diagonal + ((branch & set) ? s_.match : s_.mismatch) + (gap ? s_.on_gap : 0);
            e = std::max(open, extend);
            const int32_t up = std::max(insert, further);
            const uint8_t step = up > e && up > paired ? kUp : e >= up && e > paired ? kLeft : kDiagonal;
            cells[a] = step | (extend > open ? kStaysLeft : 0) | (further > insert ? kStaysUp : 0);
            diagonal = h[a + 1];
            int32_t best = std::max(std::max(e, up), paired);
            if (s_.whole_read && (a < b || a > b + spare)) best = e = kImpossible, f[a + 1] = kImpossible;
            else f[a + 1] = up;
            h[a + 1] = left = best;
        }
    }

    const PlaceScoring &s_;
    const uint32_t *vector_;
    const int64_t n_columns_;
    const bool to_end_;
    const uint32_t gap_bit_;
    const ReadBatch &reads_;
    const int64_t first_, n_bases_;
    int64_t end_base_ = -1, end_column_ = -1;
};

}  // namespace

void place_paths(const PlaceScoring &scoring, const ReferencePlanes &planes, const ReadBatch &reads,
                 const int64_t *vector, const int32_t *window, int n_threads, int32_t *column, int32_t *score) {
    struct Memory {  // per thread
        std::vector<uint8_t> cells;
        std::vector<uint32_t> vector;
        std::vector<int32_t> h, f;
    };
    std::vector<Memory> memory(n_threads);
    const int64_t n_columns = planes.n_columns - planes.n_empty;
    auto work = [&](int thread, int64_t k) {
        Memory &kept = memory[thread];
        kept.vector.resize(n_columns);
        vector_of_lane(planes, vector[k], kept.vector.data());
        const int32_t begin = window[2 * k], end = window[2 * k + 1];
        Path path(scoring, kept.vector.data() + begin, end - begin, end == n_columns, planes.n_states, reads, k);
        score[k] = path.fill(kept.cells, kept.h, kept.f);
        int32_t *own_columns = column + reads.offsets[k];
        path.walk(kept.cells, own_columns);
        for (int64_t b = 0; b < reads.offsets[k + 1] - reads.offsets[k]; ++b)
            if (own_columns[b] >= 0) own_columns[b] += begin;
    };
    parallel(n_threads, reads.n_reads, 1, work);
}

}  // namespace tropalign
