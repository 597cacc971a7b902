#include "plan.hpp"

#include <algorithm>
#include <numeric>

namespace tropalign {
namespace {

struct Entry {
    uint64_t group;  // row sequence, then role
    int64_t pair;
};

/// Stable sort by a small key.
template <class Key>
void counting_sort(std::vector<Entry> &entries, std::vector<Entry> &spare, size_t n_keys, Key key) {
    std::vector<size_t> place(n_keys + 1);
    for (const Entry &entry : entries) ++place[key(entry) + 1];
    for (size_t k = 0; k < n_keys; ++k) place[k + 1] += place[k];
    for (const Entry &entry : entries) spare[place[key(entry)]++] = entry;
    entries.swap(spare);
}

int64_t mask_bytes_a_cell(int lanes) { return lanes / 2; }  // four bits a lane

/// Cells from which the masks of a few pairs side by side no longer fit a cache, or soon any memory.
constexpr int64_t kLongCells = int64_t{1} << 24;
constexpr int64_t kAloneCells = 1'400'000;

/// Lanes (a power of two) whose masks over m x n cells stay within `bytes`; at least 16.
int lanes_within(int64_t m, int64_t n, int lanes, int64_t bytes, bool traced) {
    while (traced && lanes > 16 && m * n * mask_bytes_a_cell(lanes) > bytes) lanes /= 2;
    return lanes;
}

class Planner {
  public:
    Planner(const TileRequest &request, const Scoring &scoring, int lanes, int64_t mask_bytes)
        : request_(request), traced_(scoring.depth != Depth::score), lanes_(lanes), mask_bytes_(mask_bytes) {}

    Plan run() {
        plan_.rows.reserve(request_.n_pairs);
        std::vector<Entry> entries = oriented(), spare(entries.size());
        int64_t longest = 0;
        for (const Entry &entry : entries) longest = std::max(longest, column_length(entry.pair));
        counting_sort(entries, spare, longest + 1, [&](const Entry &e) { return longest - column_length(e.pair); });
        counting_sort(entries, spare, 2 * (request_.queries.count + request_.targets.count),
                      [](const Entry &e) { return e.group; });
        std::vector<Entry> single;  // pairs left over: units in which every lane has rows of its own
        for (size_t from = 0, to; from < entries.size(); from = to) {
            to = from;
            while (to < entries.size() && entries[to].group == entries[from].group) ++to;
            shared_units(entries, from, to, single);
        }
        single_units(single);
        finish();
        return std::move(plan_);
    }

  private:
    int64_t query_length(int64_t pair) const { return request_.queries[request_.query_index[pair]].length; }
    int64_t target_length(int64_t pair) const { return request_.targets[request_.target_index[pair]].length; }
    bool query_is_long(int64_t pair) const { return query_length(pair) >= target_length(pair); }
    bool rows_are_query(int64_t pair) const { return rows_are_query_[pair]; }
    bool rows_are_short(int64_t pair) const { return traced_ && rows_are_query(pair) != query_is_long(pair); }
    int64_t row_length(int64_t pair) const { return rows_are_query(pair) ? query_length(pair) : target_length(pair); }
    int64_t column_length(int64_t pair) const { return rows_are_query(pair) ? target_length(pair) : query_length(pair); }

    /// Chooses each pair's rows: the sequence that has many more pairs than the other, else the longer one.
    std::vector<Entry> oriented() {
        const bool one_set = request_.queries.codes == request_.targets.codes;
        std::vector<int32_t> of_query(request_.queries.count), of_target(request_.targets.count);
        for (int64_t k = 0; k < request_.n_pairs; ++k) {
            ++of_query[request_.query_index[k]];
            ++(one_set ? of_query : of_target)[request_.target_index[k]];
        }
        std::vector<int32_t> &target_pairs = one_set ? of_query : of_target;
        rows_are_query_.resize(request_.n_pairs);
        std::vector<Entry> entries(request_.n_pairs);
        for (int64_t k = 0; k < request_.n_pairs; ++k) {
            int64_t query = request_.query_index[k], target = request_.target_index[k];
            int64_t many = of_query[query], others = target_pairs[target];
            bool by_query = many > 2 * others ? true : others > 2 * many ? false : query_is_long(k);
            rows_are_query_[k] = by_query;
            uint64_t sequence = by_query ? query : target + (one_set ? 0 : request_.queries.count);
            entries[k] = {sequence << 1 | uint64_t{rows_are_short(k)}, k};
        }
        return entries;
    }

    void shared_units(const std::vector<Entry> &entries, size_t from, size_t to, std::vector<Entry> &single) {
        while (from < to) {
            int64_t first = entries[from].pair;
            if (traced_ && row_length(first) * column_length(first) >= kLongCells) {
                plan_.long_pairs.push_back(entries[from++].pair);
                continue;
            }
            int lanes = lanes_within(row_length(first), column_length(first), lanes_, mask_bytes_, traced_);
            int64_t n = std::min<int64_t>(lanes, to - from);
            if (n <= lanes_ / 8) break;  // a vector hardly filled: better with others like it
            add(entries.data() + from, n, true);
            from += n;
        }
        single.insert(single.end(), entries.begin() + from, entries.begin() + to);
    }

    void single_units(std::vector<Entry> &single) {
        auto order = [&](const Entry &a, const Entry &b) {
            bool short_a = rows_are_short(a.pair), short_b = rows_are_short(b.pair);
            if (short_a != short_b) return short_a < short_b;
            int64_t rows_a = row_length(a.pair) / 8, rows_b = row_length(b.pair) / 8;
            if (rows_a != rows_b) return rows_a > rows_b;
            int64_t columns_a = column_length(a.pair), columns_b = column_length(b.pair);
            return columns_a != columns_b ? columns_a > columns_b : a.pair < b.pair;
        };
        std::sort(single.begin(), single.end(), order);
        for (size_t from = 0; from < single.size();) {
            int64_t first = single[from].pair;
            int lanes = lanes_within(row_length(first), column_length(first), lanes_, mask_bytes_, traced_);
            size_t n = 0;
            while (n < static_cast<size_t>(lanes) && from + n < single.size() &&
                   rows_are_short(single[from + n].pair) == rows_are_short(first))
                ++n;
            if (better_alone(single.data() + from, n))
                for (size_t k = 0; k < n; ++k) plan_.long_pairs.push_back(single[from + k].pair);
            else add(single.data() + from, n, false);
            from += n;
        }
    }

    /// Whether pairs that would fill few lanes of a vector are swept sooner one at a time, their strips as lanes: cells
    /// that the vectors cover, with a start-up of one strip a lane, and the time of kAloneCells to begin a pair (fitted to
    /// 1 to 64 pairs of 250 to 8,000 residues; docs/pairs.md has the figures).
    bool better_alone(const Entry *entries, size_t n) const {
        int64_t rows = 0, columns = 0, alone = 0;
        for (size_t k = 0; k < n; ++k) {
            const int64_t m = row_length(entries[k].pair), c = column_length(entries[k].pair);
            rows = std::max(rows, m), columns = std::max(columns, c);
            alone += kAloneCells + ((m + lanes_ - 1) / lanes_ + 2) * lanes_ * (c + 4 * lanes_);
        }
        int width = 16;
        while (width < static_cast<int>(n)) width *= 2;
        return alone < rows * columns * width;
    }

    void add(const Entry *entries, int64_t n, bool shared) {
        PlannedUnit unit{static_cast<int64_t>(plan_.rows.size()), 0, static_cast<int>(n), shared,
                         rows_are_short(entries->pair)};
        int64_t rows = 0, columns = 0;
        for (int64_t k = 0; k < n; ++k) {
            plan_.rows.push_back(entries[k].pair);
            plan_.rows_are_query.push_back(rows_are_query(entries[k].pair));
            rows = std::max(rows, row_length(entries[k].pair));
            columns = std::max(columns, column_length(entries[k].pair));
        }
        plan_.units.push_back(unit);
        cost_.push_back(rows * columns);
    }

    /// Costliest first (longest processing time), so that threads end together.
    void finish() {
        std::vector<size_t> order(plan_.units.size());
        std::iota(order.begin(), order.end(), size_t{0});
        std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return cost_[a] > cost_[b]; });
        std::vector<PlannedUnit> sorted;
        sorted.reserve(order.size());
        int64_t before = 0;
        for (size_t k : order) {
            sorted.push_back(plan_.units[k]);
            sorted.back().pairs_before = before;
            before += sorted.back().n_lanes;
        }
        plan_.units = std::move(sorted);
    }

    const TileRequest &request_;
    bool traced_;
    int lanes_;
    int64_t mask_bytes_;
    std::vector<uint8_t> rows_are_query_;
    std::vector<int64_t> cost_;
    Plan plan_;
};

}  // namespace

LanePair lane_pair(const TileRequest &request, int64_t pair, bool rows_are_query) {
    Letters query = request.queries[request.query_index[pair]], target = request.targets[request.target_index[pair]];
    const FreeEnds &free = request.free_ends;
    if (rows_are_query) return {query, target, free.query_start, free.query_end, free.target_start, free.target_end};
    return {target, query, free.target_start, free.target_end, free.query_start, free.query_end};
}

Plan make_plan(const TileRequest &request, const Scoring &scoring, int vector_bytes, int64_t mask_bytes) {
    return Planner(request, scoring, vector_bytes, mask_bytes).run();
}

}  // namespace tropalign
