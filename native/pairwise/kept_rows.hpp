// The rows of a tile's result: threads store the results of pairs in any order; the paths are put in the order of
// the pairs.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "tile.hpp"

namespace tropalign {

/// Paths of one thread, until all threads are done and the paths are put in order. They do not move in memory.
class PathStore {
  public:
    /// Return room for `n` numbers.
    uint32_t *room(size_t n) {
        if (blocks_.empty() || used_ + n > blocks_.back().size()) {
            blocks_.emplace_back(std::max(n, std::clamp(numbers_ / 4, kFirst, kMost)));
            numbers_ += blocks_.back().size();
            used_ = 0;
        }
        uint32_t *begin = blocks_.back().data() + used_;
        used_ += n;
        return begin;
    }

  private:
    static constexpr size_t kFirst = size_t{1} << 14, kMost = size_t{1} << 20;  // numbers of a block
    std::vector<Buffer<uint32_t>> blocks_;
    size_t used_ = 0, numbers_ = 0;  // of the last block; of all blocks
};

class KeptRows {
  public:
    TileColumns columns;
    std::atomic<int64_t> path_bytes;  // still available for paths

    KeptRows(Depth depth, size_t n_pairs, int64_t memory_bytes) : path_bytes(memory_bytes), depth_(depth) {
        if (depth == Depth::alignment) rows_ = Buffer<Row>(n_pairs);
        else make_columns(n_pairs);
    }

    /// Prefetch the row of a pair that is kept later: pairs of a unit lie far apart, and each would be waited for
    /// (125,000 pairs of 51 residues: 50 ns per pair).
    void prefetch(int64_t pair) {
        if (depth_ == Depth::alignment) {
            const auto *row = reinterpret_cast<const char *>(&rows_[pair]);
            __builtin_prefetch(row, 1), __builtin_prefetch(row + sizeof(Row) - 1, 1);
            return;
        }
        __builtin_prefetch(&columns.score[pair], 1);
    }

    /// Store the result of a pair. Throws std::bad_alloc if paths exceed path_bytes.
    void keep(int64_t pair, bool query_in_rows, const LaneResult &r, PathStore &paths) {
        if (depth_ != Depth::alignment) {
            columns.score[pair] = r.score;
            if (depth_ == Depth::ends) keep_ends(pair, query_in_rows, r);
            return;
        }
        Row &row = rows_[pair];
        row.score = r.score;
        row.query_start = query_in_rows ? r.row_begin : r.column_begin;
        row.query_end = query_in_rows ? r.row_end : r.column_end;
        row.target_start = query_in_rows ? r.column_begin : r.row_begin;
        row.target_end = query_in_rows ? r.column_end : r.row_end;
#define X(count) row.count = r.count;
        TROPALIGN_COUNTS(X)
#undef X
        // Paths are stored twice: here, and once more in order.
        if ((path_bytes -= 2 * int64_t{sizeof(uint32_t)} * r.path_length) < 0) throw std::bad_alloc();
        uint32_t *runs = paths.room(r.path_length);
        row.runs = runs, row.n_runs = r.path_length;
        for (int k = 0; k < r.path_length; ++k) {
            const uint32_t operation = r.path[k] & 15;  // if the columns are the query, swap insertions and deletions
            runs[k] = !query_in_rows && (operation == 1 || operation == 2) ? r.path[k] ^ 3 : r.path[k];
        }
    }

    /// Return the result, once all pairs are kept (or the work was stopped).
    TileColumns take() {
        if (depth_ == Depth::alignment) {
            make_columns(rows_.size());
            if (columns.finished) spread(), collect_paths();
        }
        return std::move(columns);
    }

  private:
    /// The values of an alignment, stored together: pairs arrive in any order, and each column would be another
    /// cache line.
    struct Row {
        int32_t score, query_start, query_end, target_start, target_end;
#define X(count) int32_t count;
        TROPALIGN_COUNTS(X)
#undef X
        int32_t n_runs;
        const uint32_t *runs;
    };

    void make_columns(size_t n_pairs) {
        columns.score = Buffer<int32_t>(n_pairs);
        if (depth_ == Depth::score) return;
        for (auto *column : {&columns.query_start, &columns.query_end, &columns.target_start, &columns.target_end})
            *column = Buffer<int32_t>(n_pairs);
        if (depth_ == Depth::ends) return;
#define X(count) columns.count = Buffer<int32_t>(n_pairs);
        TROPALIGN_COUNTS(X)
#undef X
    }

    void keep_ends(int64_t pair, bool query_in_rows, const LaneResult &r) {
        columns.query_start[pair] = query_in_rows ? r.row_begin : r.column_begin;
        columns.query_end[pair] = query_in_rows ? r.row_end : r.column_end;
        columns.target_start[pair] = query_in_rows ? r.column_begin : r.row_begin;
        columns.target_end[pair] = query_in_rows ? r.column_end : r.row_end;
    }

    /// Copy all rows to the columns.
    void spread() {
        for (size_t k = 0; k < rows_.size(); ++k) {
            const Row &row = rows_[k];
            columns.score[k] = row.score;
            columns.query_start[k] = row.query_start, columns.query_end[k] = row.query_end;
            columns.target_start[k] = row.target_start, columns.target_end[k] = row.target_end;
#define X(count) columns.count[k] = row.count;
            TROPALIGN_COUNTS(X)
#undef X
        }
    }

    void collect_paths() {
        const auto n_pairs = static_cast<int64_t>(rows_.size());
        columns.path_offsets = Buffer<int64_t>(n_pairs + 1);
        int64_t total = 0;
        for (int64_t k = 0; k < n_pairs; ++k) {
            columns.path_offsets[k] = total;
            total += rows_[k].n_runs;
        }
        columns.path_offsets[n_pairs] = total;
        columns.path = Buffer<uint32_t>(total);
        uint32_t *to = columns.path.data();
        for (int64_t k = 0; k < n_pairs; ++k) {
            const int32_t n = rows_[k].n_runs;
            if (n) std::memcpy(to, rows_[k].runs, sizeof(uint32_t) * n);
            to += n;
        }
    }

    const Depth depth_;
    Buffer<Row> rows_;
};

}  // namespace tropalign
