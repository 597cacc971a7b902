#include "score_groups.hpp"

#include <algorithm>
#include <utility>

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
/// Runs are compared this many pairs at a time. They are given up once they are more than kMostRuns and fill less than
/// a vector each.
constexpr int64_t kLooked = 32, kMostRuns = 256;

/// True if query and target may be swapped.
bool is_same_either_way(const Scoring &scoring, const FreeEnds &free) {
    return scoring.is_symmetric && free.query_start == free.target_start && free.query_end == free.target_end;
}

/// Return the indices of the used sequences of at most `most` residues, by descending length, then by index.
std::vector<int32_t> sorted_by_length(const Sequences &sequences, const std::vector<uint8_t> &is_used, int32_t most) {
    auto is_taken = [&](int64_t k) { return is_used[k] && sequences[k].length > 0 && sequences[k].length <= most; };
    std::vector<int32_t> begin(most + 1), order;
    for (int64_t k = 0; k < sequences.count; ++k)
        if (is_taken(k)) ++begin[most - sequences[k].length];
    int32_t before = 0;
    for (int32_t &of_length : begin) before += std::exchange(of_length, before);
    order.resize(before);
    for (int64_t k = 0; k < sequences.count; ++k)
        if (is_taken(k)) order[begin[most - sequences[k].length]++] = static_cast<int32_t>(k);
    return order;
}

}  // namespace

ScoreGroups::ScoreGroups(const TileRequest &request, const Scoring &scoring, const GroupKernels &kernels)
    : request_(request), scoring_(scoring), kernels_(kernels), lanes_(kernels.vector_bytes) {
    if (scoring.pass != Pass::score || request.n_pairs < kLeastGroupedPairs) return;
    if (!fits(scoring, 8) || !scoring.step_fits8 || scoring.track) return;
    const bool is_one_set = request.queries.codes == request.targets.codes;
    const bool has_runs = find_runs();
    if (is_one_set && is_same_either_way(scoring, request.free_ends) && lay_out_table(true)) {
        fill(true);
    } else if (!has_runs || !lay_out_runs()) {
        runs_.clear();
        if (!lay_out_table(false)) return;
        fill(false);
    }
    choose_least();
    mark_done();
}

bool ScoreGroups::find_runs() {
    const int64_t *query = request_.query_index, *target = request_.target_index;
    for (int64_t from = 0, to; from < request_.n_pairs; from = to) {
        to = from + 1;
        for (; to + kLooked <= request_.n_pairs; to += kLooked) {
            int64_t differ = 0;
            for (int64_t k = to; k < to + kLooked; ++k)
                differ |= (query[k] - query[from]) | (target[k] - target[from] - (k - from));
            if (differ) break;
        }
        while (to < request_.n_pairs && query[to] == query[from] && target[to] == target[from] + (to - from)) ++to;
        runs_.push_back({static_cast<uint32_t>(from), static_cast<int32_t>(query[from]),
                         static_cast<int32_t>(target[from]), static_cast<int32_t>(to - from)});
        if (static_cast<int64_t>(runs_.size()) * lanes_ > to + kMostRuns) return runs_.clear(), false;
    }
    return true;
}

bool ScoreGroups::lay_out_runs() {
    std::vector<uint8_t> is_used(request_.targets.count);
    for (const PairRun &run : runs_) std::fill_n(is_used.begin() + run.first, run.count, 1);
    std::erase_if(runs_, [&](const PairRun &run) { return request_.queries[run.query].length > kMostRows; });
    if (!set_columns(sorted_by_length(request_.targets, is_used, kMostColumns), runs_.size())) return false;
    for (const PairRun &run : runs_) rows_.push_back(request_.queries[run.query]);
    count_.reserve(rows_.size() * n_blocks_);
    uint32_t memory[kMaxLanes];
    for (size_t row = 0; row < rows_.size(); ++row)
        for (int64_t column = 0; column < width_; column += lanes_) {
            const uint32_t *pairs = pairs_of(row, column, memory);
            count_.push_back(static_cast<uint8_t>(lanes_ - std::count(pairs, pairs + lanes_, kNoPair)));
        }
    return true;
}

bool ScoreGroups::lay_out_table(bool is_triangle) {
    const Sequences &queries = request_.queries, &targets = request_.targets;
    std::vector<uint8_t> query_is_used(queries.count), target_is_used(targets.count);
    std::vector<uint8_t> &of_targets = is_triangle ? query_is_used : target_is_used;
    for (const PairRun &run : runs_) {
        query_is_used[run.query] = 1;
        std::fill_n(of_targets.begin() + run.first, run.count, 1);
    }
    for (int64_t k = 0; k < request_.n_pairs && runs_.empty(); ++k)
        query_is_used[request_.query_index[k]] = of_targets[request_.target_index[k]] = 1;
    const std::vector<int32_t> rows = sorted_by_length(queries, query_is_used, kMostRows);
    const std::vector<int32_t> columns = sorted_by_length(targets, of_targets, kMostColumns);
    if (!set_columns(columns, rows.size())) return false;
    runs_.clear();
    row_of_.assign(queries.count, -1), column_of_.assign(targets.count, -1);
    for (size_t k = 0; k < rows.size(); ++k)
        rows_.push_back(queries[rows[k]]), row_of_[rows[k]] = static_cast<int32_t>(k);
    for (size_t k = 0; k < columns.size(); ++k) column_of_[columns[k]] = static_cast<int32_t>(k);
    return true;
}

bool ScoreGroups::set_columns(const std::vector<int32_t> &targets, size_t n_rows) {
    const auto n_columns = static_cast<int64_t>(targets.size());
    if (n_columns < lanes_ || static_cast<int64_t>(n_rows) * n_columns > kPlacesPerPair * request_.n_pairs)
        return false;
    n_blocks_ = (n_columns + lanes_ - 1) / lanes_;
    n_chunks_ = (static_cast<int64_t>(n_rows) + kRowsAtOnce - 1) / kRowsAtOnce;
    width_ = n_blocks_ * lanes_;
    target_of_ = targets, target_of_.resize(width_, -1);
    for (const int32_t target : targets) columns_.push_back(request_.targets[target]);
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

/// Mark the pairs that run in a group.
void ScoreGroups::mark_done() {
    is_done_.assign(request_.n_pairs, 0);
    uint32_t memory[kMaxLanes];
    for (size_t row = 0; row < rows_.size(); ++row) {
        const uint8_t *counts = count_.data() + row * n_blocks_;
        int64_t n_in_groups = 0;
        for (int64_t block = 0; block < n_blocks_; ++block)
            n_in_groups += counts[block] >= least_[row] ? counts[block] : 0;
        if (!runs_.empty() && n_in_groups == runs_[row].count) {
            std::fill_n(is_done_.begin() + runs_[row].begin, n_in_groups, 1);
            continue;
        }
        for (int64_t block = 0; block < n_blocks_; ++block) {
            if (counts[block] < least_[row]) continue;
            const uint32_t *pairs = pairs_of(row, block * lanes_, memory);
            for (int l = 0; l < lanes_; ++l)
                if (pairs[l] != kNoPair) is_done_[pairs[l]] = 1;
        }
    }
}

}  // namespace tropalign
