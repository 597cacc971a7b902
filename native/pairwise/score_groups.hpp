// Scores of a tile's short pairs if nearly every row sequence meets nearly every column sequence: the columns of a
// group are in parallel lanes, and the scores of all residues with them are looked up once for all rows
// (group_run.hpp).
//
// Columns are sorted by length. The pairs of most tiles are runs: a query with consecutive targets. The pair in a place
// of the table then follows from its row's run; for other lists of pairs, and for a triangle, the table is stored. With
// a score that is the same in both orientations, the pairs of one set are a triangle:
//
//              columns, a vector of them per group
//              | group 0 | group 1 | group 2 |
//     rows 0..   \       |         |         |      a row runs here if nearly all of its lanes are used;
//                  \     |         |         |
//                    \   |         |         |
//     ..                   \       |         |      the rest at the diagonal runs in units (cpu_plan.hpp)
#pragma once
#include <cstring>
#include <vector>

#include "best_targets.hpp"
#include "tile.hpp"

namespace tropalign {

class ScoreGroups {
  public:
    ScoreGroups(const TileRequest &, const Scoring &, const GroupKernels &);

    /// Number of items, each a group with up to kRowsAtOnce rows; 0 if the pairs do not suit.
    int64_t n_items() const { return n_blocks_ * n_chunks_; }

    /// Run an item, call keep(pair, score) for its pairs, and return how many need no unit; scores of the others are
    /// replaced later. The useful and the swept cells are added to those of `spent`.
    template <class Keep>
    int64_t run(int64_t item, GroupScratch &scratch, UnitScratch &spent, Keep keep);

    /// Call each(pair) for the pairs that need a unit, in order, once all items are done.
    template <class Each>
    void for_each_left(Each each) const {
        for (size_t k = 0; k < is_done_.size(); ++k) {
            const void *next = std::memchr(is_done_.data() + k, 0, is_done_.size() - k);
            if (!next) return;
            k = static_cast<const uint8_t *>(next) - is_done_.data();
            each(static_cast<int64_t>(k));
        }
    }

  private:
    static constexpr int kRowsAtOnce = 64;
    static constexpr uint32_t kNoPair = UINT32_MAX;

    /// The pairs [begin, begin + count): one query with targets [first, first + count).
    struct PairRun {
        uint32_t begin;
        int32_t query, first, count;
    };

    /// Find the runs; false if most are so short that the table is better stored.
    bool find_runs();
    /// Choose the rows and columns of the table of pairs: runs and targets, or a triangle, or queries and targets.
    bool lay_out_runs();
    bool lay_out_table(bool is_triangle);
    bool set_columns(const std::vector<int32_t> &targets, size_t n_rows);
    void fill(bool is_triangle);
    void choose_least();
    void mark_done();

    /// Return the pairs of a row with the `lanes_` columns from `column` on, kNoPair for cells without a pair; `memory`
    /// has room for them.
    const uint32_t *pairs_of(int64_t row, int64_t column, uint32_t *memory) const {
        if (runs_.empty()) return pair_.data() + row * width_ + column;
        const PairRun run = runs_[row];
        const int32_t *target = target_of_.data() + column;
        for (int l = 0; l < lanes_; ++l) {
            const auto from_first = static_cast<uint32_t>(target[l] - run.first);
            memory[l] = from_first < static_cast<uint32_t>(run.count) ? run.begin + from_first : kNoPair;
        }
        return memory;
    }

    const TileRequest &request_;
    const Scoring &scoring_;
    const GroupKernels &kernels_;
    const int lanes_;
    std::vector<PairRun> runs_;                // of the rows; empty if the table is stored
    std::vector<Letters> rows_, columns_;      // of the table; columns by descending length
    std::vector<int32_t> target_of_;           // of each column; -1 beyond the last one
    std::vector<int32_t> row_of_, column_of_;  // indices of queries, and of targets; -1 if absent
    std::vector<uint32_t> pair_;               // indices of the request's pairs, by row and column
    std::vector<uint8_t> count_;               // pairs of each row with each group
    std::vector<uint8_t> least_;               // fewest pairs that each row needs to run with a group
    std::vector<uint8_t> is_done_;             // of each pair: true if it needs no unit
    int64_t n_blocks_ = 0, n_chunks_ = 0, width_ = 0;
};

template <class Keep>
int64_t ScoreGroups::run(int64_t item, GroupScratch &scratch, UnitScratch &spent, Keep keep) {
    const int64_t block = item / n_chunks_, first = item % n_chunks_ * kRowsAtOnce;
    const int64_t last = std::min<int64_t>(first + kRowsAtOnce, rows_.size()), column = block * lanes_;
    Unit unit;
    unit.shared_rows = true, unit.mirrored = false;
    unit.n_lanes = static_cast<int>(std::min<int64_t>(lanes_, static_cast<int64_t>(columns_.size()) - column));
    for (int l = 0; l < unit.n_lanes; ++l) unit.lane[l].columns = columns_[column + l];
    Letters rows[kRowsAtOnce];
    int64_t row_of[kRowsAtOnce];
    int n = 0;
    for (int64_t row = first; row < last; ++row)
        if (count_[row * n_blocks_ + block] >= least_[row]) row_of[n] = row, rows[n++] = rows_[row];
    if (n == 0) return 0;
    int32_t scores[kRowsAtOnce * kMaxLanes];
    uint64_t saturated[kRowsAtOnce];
    kernels_.run(scoring_, {unit, rows, n, request_.free_ends}, scratch, scores, saturated);
    int64_t n_kept = 0;
    for (int k = 0; k < n; ++k) {
        uint32_t memory[kMaxLanes];
        const uint32_t *pairs = pairs_of(row_of[k], column, memory);
        const int32_t *of_row = scores + k * kMaxLanes;
        int64_t residues = 0;
        for (int l = 0; l < unit.n_lanes; ++l) {
            if (pairs[l] == kNoPair) continue;
            residues += columns_[column + l].length;
            ++n_kept;
            keep(int64_t{pairs[l]}, of_row[l]);
        }
        for (uint64_t left = saturated[k]; left; left &= left - 1) {
            const int l = __builtin_ctzll(left);
            if (l < unit.n_lanes && pairs[l] != kNoPair) is_done_[pairs[l]] = 0, --n_kept;
        }
        spent.swept_cells += static_cast<uint64_t>(rows[k].length) * columns_[column].length * lanes_;
        spent.useful_cells += static_cast<uint64_t>(rows[k].length) * residues;
    }
    return n_kept;
}

}  // namespace tropalign
