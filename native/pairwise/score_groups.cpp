#include "score_groups.hpp"

#include <algorithm>
#include <numeric>

#include "ranges.hpp"

namespace tropalign {
namespace {

/// Fewest pairs: aligning fewer takes less time than the layout.
constexpr int64_t kLeastGroupedPairs = 2048;
/// Maximum number of table entries per pair: a triangle has two.
constexpr int64_t kPlacesPerPair = 4;
/// Longest columns, whose profile is kept as a whole (kProfiledColumns of group_run.hpp), and longest rows. Longer
/// rows gain nothing: their units' profiles serve many rows already.
constexpr int32_t kMostColumns = 64, kMostRows = 256;

/// True if query and target may be swapped.
bool is_same_either_way(const Scoring &scoring, const FreeEnds &free) {
    return scoring.is_symmetric && free.query_start == free.target_start && free.query_end == free.target_end;
}

/// Return the indices of the used sequences of at most `most` residues, by descending length, stably.
std::vector<int32_t> sorted_by_length(const Sequences &sequences, const std::vector<uint8_t> &is_used, int32_t most) {
    std::vector<int32_t> order;
    for (int64_t k = 0; k < sequences.count; ++k)
        if (is_used[k] && sequences[k].length > 0 && sequences[k].length <= most)
            order.push_back(static_cast<int32_t>(k));
    std::stable_sort(order.begin(), order.end(),
                     [&](int32_t a, int32_t b) { return sequences[a].length > sequences[b].length; });
    return order;
}

}  // namespace

ScoreGroups::ScoreGroups(const TileRequest &request, const Scoring &scoring, const GroupKernels &kernels)
    : request_(request), scoring_(scoring), kernels_(kernels), lanes_(kernels.vector_bytes) {
    if (scoring.pass != Pass::score || request.n_pairs < kLeastGroupedPairs) return;
    if (!fits(scoring, 8) || !scoring.step_fits8 || scoring.track) return;
    const bool is_one_set = request.queries.codes == request.targets.codes;
    if (is_one_set && is_same_either_way(scoring, request.free_ends) && lay_out(true)) fill(true);
    else if (lay_out(false)) fill(false);
}

bool ScoreGroups::lay_out(bool is_triangle) {
    const Sequences &queries = request_.queries, &targets = request_.targets;
    std::vector<uint8_t> query_is_used(queries.count), target_is_used(targets.count);
    for (int64_t k = 0; k < request_.n_pairs; ++k) {
        query_is_used[request_.query_index[k]] = 1;
        (is_triangle ? query_is_used : target_is_used)[request_.target_index[k]] = 1;
    }
    const std::vector<int32_t> rows = sorted_by_length(queries, query_is_used, kMostRows);
    const std::vector<int32_t> columns =
        sorted_by_length(targets, is_triangle ? query_is_used : target_is_used, kMostColumns);
    const auto n_rows = static_cast<int64_t>(rows.size()), n_columns = static_cast<int64_t>(columns.size());
    if (n_columns < lanes_ || n_rows * n_columns > kPlacesPerPair * request_.n_pairs) return false;
    row_of_.assign(queries.count, -1), column_of_.assign(targets.count, -1);
    for (int64_t k = 0; k < n_rows; ++k) rows_.push_back(queries[rows[k]]), row_of_[rows[k]] = static_cast<int32_t>(k);
    for (int64_t k = 0; k < n_columns; ++k)
        columns_.push_back(targets[columns[k]]), column_of_[columns[k]] = static_cast<int32_t>(k);
    n_blocks_ = (n_columns + lanes_ - 1) / lanes_;
    n_chunks_ = (n_rows + kRowsAtOnce - 1) / kRowsAtOnce;
    width_ = n_blocks_ * lanes_;
    return true;
}

/// Enter the pairs in the table. In a triangle the row is the sequence that comes first by descending length.
void ScoreGroups::fill(bool is_triangle) {
    pair_.assign(rows_.size() * width_, kNoPair);
    count_.assign(rows_.size() * n_blocks_, 0);
    for (int64_t k = 0; k < request_.n_pairs; ++k) {
        int64_t row = request_.query_index[k], column = request_.target_index[k];
        if (is_triangle && row_of_[column] >= 0 && (row_of_[row] < 0 || row_of_[column] < row_of_[row]))
            std::swap(row, column);
        row = row_of_[row], column = column_of_[column];
        if (row < 0 || column < 0) continue;
        uint32_t &place = pair_[row * width_ + column];
        if (place != kNoPair) continue;  // a pair that is listed twice
        place = static_cast<uint32_t>(k);
        ++count_[row * n_blocks_ + column / lanes_];
    }
    choose_least();
}

/// A lane of a group costs two thirds of a full unit's lane and an eighth of a left-over unit's (51 residues). So at
/// least half of the lanes must be used, or a tenth if a row's left-over pairs do not fill a unit.
void ScoreGroups::choose_least() {
    for (size_t row = 0; row < rows_.size(); ++row) {
        int64_t left = 0;
        for (int64_t block = 0; block < n_blocks_; ++block) {
            const int n = count_[row * n_blocks_ + block];
            if (2 * n < lanes_) left += n;
        }
        least_.push_back(static_cast<uint8_t>(2 * left < lanes_ ? std::max(1, lanes_ / 10) : lanes_ / 2));
    }
}

}  // namespace tropalign
