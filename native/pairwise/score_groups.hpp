// Scores of a tile's short pairs if nearly every row sequence meets nearly every column sequence: the columns of a
// group are in parallel lanes, and the scores of all residues with them are looked up once for all rows
// (group_run.hpp).
//
// Sequences are sorted by length. With a score that is the same in both orientations, the pairs of one set are a
// triangle:
//
//              columns, a vector of them per group
//              | group 0 | group 1 | group 2 |
//     rows 0..   \       |         |         |      a row runs here if nearly all of its lanes are used;
//                  \     |         |         |
//                    \   |         |         |
//     ..                   \       |         |      the rest at the diagonal runs in units (cpu_plan.hpp)
#pragma once
#include <vector>

#include "best_targets.hpp"
#include "tile.hpp"

namespace tropalign {

class ScoreGroups {
  public:
    ScoreGroups(const TileRequest &, const Scoring &, const GroupKernels &);

    /// Number of items, each a group with up to kRowsAtOnce rows; 0 if the pairs do not suit.
    int64_t n_items() const { return n_blocks_ * n_chunks_; }

    /// Run an item and call keep(pair, score) for its pairs. Pairs that are not kept need a unit. The useful and
    /// the swept cells are added to those of `spent`.
    template <class Keep>
    void run(int64_t item, GroupScratch &scratch, UnitScratch &spent, Keep keep);

  private:
    static constexpr int kRowsAtOnce = 64;
    static constexpr uint32_t kNoPair = UINT32_MAX;

    /// Choose the rows and columns of the table of pairs: a triangle, or queries against targets.
    bool lay_out(bool is_triangle);
    void fill(bool is_triangle);
    void choose_least();

    const TileRequest &request_;
    const Scoring &scoring_;
    const GroupKernels &kernels_;
    const int lanes_;
    std::vector<Letters> rows_, columns_;      // of the table, by descending length
    std::vector<int32_t> row_of_, column_of_;  // indices of queries, and of targets; -1 if absent
    std::vector<uint32_t> pair_;               // indices of the request's pairs, by row and column
    std::vector<uint8_t> count_;               // pairs of each row with each group
    std::vector<uint8_t> least_;               // fewest pairs that each row needs to run with a group
    int64_t n_blocks_ = 0, n_chunks_ = 0, width_ = 0;
};

template <class Keep>
void ScoreGroups::run(int64_t item, GroupScratch &scratch, UnitScratch &spent, Keep keep) {
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
    if (n == 0) return;
    int32_t scores[kRowsAtOnce * kMaxLanes];
    uint64_t saturated[kRowsAtOnce];
    kernels_.run(scoring_, {unit, rows, n, request_.free_ends}, scratch, scores, saturated);
    for (int k = 0; k < n; ++k) {
        const uint32_t *pairs = pair_.data() + row_of[k] * width_ + column;
        spent.swept_cells += static_cast<uint64_t>(rows[k].length) * columns_[column].length * lanes_;
        for (int l = 0; l < unit.n_lanes; ++l) {
            if (pairs[l] == kNoPair) continue;
            spent.useful_cells += static_cast<uint64_t>(rows[k].length) * columns_[column + l].length;
            if (!(saturated[k] >> l & 1)) keep(pairs[l], scores[k * kMaxLanes + l]);
        }
    }
}

}  // namespace tropalign
