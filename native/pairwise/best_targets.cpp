#include "best_targets.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>

#include "../compute/parallel.hpp"
#include "../simd/dispatch.hpp"
#include "ranges.hpp"
#include "table_tile.hpp"

namespace tropalign {

TROPALIGN_DISPATCH_LOOKUPS(GroupKernels, group_kernels)

namespace {

/// Queries per group of targets: they share the work of interleaving its residues, and of their profile.
constexpr int kQueriesAtOnce = 256;
/// Fewer lanes of 16 bits than this take longer than a table of each pair.
constexpr int kLeastWideLanes = 2;
/// Upper bound on the buffers of a thread: the residues of a group (64 x 16,384, twice), and a unit of one band.
constexpr int64_t kThreadBytes = int64_t{16} << 20;
/// After this many consecutive items most of whose lanes saturated 8 bits, a thread starts with 16 bits, except
/// for every 32nd item (as in tile.cpp).
constexpr int kSaturatedItems = 4, kItemsPerNarrowTry = 32;
/// Cost of a column in a whole vector, and in one of half the bytes. This is a compromise: whole vectors take as long
/// as half ones on some processors (.94 measured on a Zen 5), and twice as long on others.
constexpr int64_t kWholeCost = 4, kHalfCost = 3;

struct Kept {
    int32_t score, target, strand;

    bool before(const Kept &other) const { return score != other.score ? score > other.score : target < other.target; }
};

/// The best targets of each query so far. The result does not depend on the order of offers, since no two pairs of
/// a query are equal in score and target.
class Lists {
  public:
    explicit Lists(const BestRequest &request)
        : most_(request.most), lists_(request.last - request.first), least_(lists_.size()) {
        for (size_t k = 0; k < least_.size(); ++k)
            least_[k].store(request.lowest_score(request.first + static_cast<int64_t>(k)), std::memory_order_relaxed);
    }

    /// Return the lowest score that the query still keeps.
    int32_t least(int64_t query) const { return least_[query].load(std::memory_order_relaxed); }

    void offer(int64_t query, const Kept &pair) {
        std::lock_guard lock(locks_[query % kLocks]);
        auto &list = lists_[query];
        auto before = [](const Kept &a, const Kept &b) { return a.before(b); };  // makes a heap with the worst on top
        if (static_cast<int64_t>(list.size()) < most_) {
            list.push_back(pair);
            std::push_heap(list.begin(), list.end(), before);
        } else if (pair.before(list.front())) {
            std::pop_heap(list.begin(), list.end(), before);
            list.back() = pair;
            std::push_heap(list.begin(), list.end(), before);
        } else {
            return;
        }
        if (static_cast<int64_t>(list.size()) == most_)
            least_[query].store(list.front().score, std::memory_order_relaxed);
    }

    std::vector<Kept> &sorted(int64_t query) {
        auto &list = lists_[query];
        std::sort(list.begin(), list.end(), [](const Kept &a, const Kept &b) { return a.before(b); });
        return list;
    }

  private:
    static constexpr int kLocks = 256;
    const int64_t most_;
    std::vector<std::vector<Kept>> lists_;
    std::vector<std::atomic<int32_t>> least_;
    std::mutex locks_[kLocks];
};

/// Targets in the lanes of one vector: those at [begin, begin + n_lanes) of the targets by descending length.
struct Group {
    int64_t begin;
    int n_lanes;
};

class BestRun {
  public:
    BestRun(const Kernels &kernels, const GroupKernels &group_kernels, const Scoring &scoring,
            const BestRequest &request)
        : kernels_(kernels), group_kernels_(group_kernels), scoring_(scoring), request_(request),
          in_groups_(fits(scoring, 8) && scoring.step_fits8),
          in_wide_groups_(request.positions && request.positions->step16 && fits(scoring, 16)), lists_(request) {}

    BestTargets run(const Poll &poll) {
        sort_targets();
        cut_groups();
        const int64_t n_queries = request_.last - request_.first;
        const int64_t n_blocks = (n_queries + kQueriesAtOnce - 1) / kQueriesAtOnce;
        const auto n_items = static_cast<int64_t>(groups_.size()) * n_blocks;
        const int n_threads =
            static_cast<int>(std::clamp<int64_t>(request_.memory_bytes / kThreadBytes, 1, request_.n_threads));
        const int64_t at_once = std::clamp<int64_t>(n_items / (32 * n_threads), 1, 16);
        for (int t = 0; t < n_threads; ++t) arenas_.emplace_back();
        BestTargets out;
        out.finished = parallel(
            n_threads, n_items, at_once,
            [&](int thread, int64_t k) { run_item(groups_[k / n_blocks], k % n_blocks, arenas_[thread]); },
            [&](int64_t begun) {
                return poll(n_queries * request_.targets.count / std::max<int64_t>(n_items, 1) * begun);
            });
        if (out.finished) collect(out);
        return out;
    }

  private:
    struct Arena {
        GroupScratch groups;
        UnitScratch units;
        std::vector<int32_t> scores = std::vector<int32_t>(2 * kQueriesAtOnce * kMaxLanes);  // per strand
        std::vector<int32_t> wide_scores;
        int saturated_streak = 0;
    };

    /// Sort by descending length, stably.
    void sort_targets() {
        const Sequences &targets = request_.targets;
        int32_t longest = 0;
        for (int64_t k = 0; k < targets.count; ++k) longest = std::max(longest, targets[k].length);
        std::vector<int64_t> begin(longest + 2);
        for (int64_t k = 0; k < targets.count; ++k) ++begin[longest - targets[k].length + 1];
        for (int32_t k = 0; k <= longest; ++k) begin[k + 1] += begin[k];
        order_.resize(targets.count);
        for (int64_t k = 0; k < targets.count; ++k)
            order_[begin[longest - targets[k].length]++] = static_cast<int32_t>(k);
    }

    int64_t length(int64_t place) const { return request_.targets[order_[place]].length; }

    /// Cut the targets into groups of one vector's lanes. A group is halved, repeatedly, if padding its lengths would
    /// cost more.
    void cut_groups() {
        const auto n = static_cast<int64_t>(order_.size());
        for (int64_t from = 0; from < n;) {
            int lanes = group_kernels_.vector_bytes;
            while (lanes > 16 && from + lanes / 2 < n &&
                   kHalfCost * (length(from) + length(from + lanes / 2)) < kWholeCost * length(from))
                lanes /= 2;
            groups_.push_back({from, static_cast<int>(std::min<int64_t>(lanes, n - from))});
            from += lanes;
        }
    }

    void run_item(const Group &group, int64_t block, Arena &arena) {
        Unit unit;
        unit.n_lanes = group.n_lanes;
        unit.shared_rows = true;
        unit.mirrored = false;
        const FreeEnds &free = request_.free_ends;
        for (int l = 0; l < unit.n_lanes; ++l)
            unit.lane[l] = {{},
                            request_.targets[order_[group.begin + l]],
                            free.query_start,
                            free.query_end,
                            free.target_start,
                            free.target_end};
        const int64_t begin = request_.first + block * kQueriesAtOnce;
        const auto n = static_cast<int>(std::min<int64_t>(kQueriesAtOnce, request_.last - begin));
        int32_t *scores = arena.scores.data(), *others = nullptr;
        score_all(request_.queries, request_.positions, begin, n, unit, scores, arena);
        if (request_.reverse) {
            others = scores + kQueriesAtOnce * kMaxLanes;
            score_all(*request_.reverse, request_.reverse_positions, begin, n, unit, others, arena);
        }
        for (int k = 0; k < n; ++k)
            select(group, begin + k, scores + k * kMaxLanes, others ? others + k * kMaxLanes : nullptr);
    }

    /// Compute scores of queries [begin, begin + n) with the unit's targets: in 8 bits by groups; those that need
    /// more bits, or do not suit the group kernels, as units. If queries score by position, those that need more bits
    /// are computed in 16 bits by groups, and what then is left by a table of each pair.
    void score_all(const Sequences &queries, const PositionScores *positions, int64_t begin, int n, Unit &unit,
                   int32_t *scores, Arena &arena) {
        Letters rows[kQueriesAtOnce];
        for (int k = 0; k < n; ++k) rows[k] = queries[begin + k];
        const uint64_t all = ~uint64_t{0} >> (kMaxLanes - unit.n_lanes);
        const bool in_groups = in_groups_ && unit.lane[0].columns.length <= kMostGroupColumns;
        const bool starts_wide =
            arena.saturated_streak >= kSaturatedItems && arena.saturated_streak++ % kItemsPerNarrowTry != 0;
        uint64_t left[kQueriesAtOnce];
        if (in_groups && !starts_wide) {
            group_kernels_.run(scoring_, {unit, rows, n, request_.free_ends, positions}, arena.groups, scores, left);
            int64_t n_left = 0;
            for (int k = 0; k < n; ++k) {
                left[k] &= all;
                if (left[k] != 0 && request_.skips_self) left[k] &= ~lanes_of(unit, rows[k]);
                n_left += __builtin_popcountll(left[k]);
            }
            arena.saturated_streak = 2 * n_left > int64_t{n} * unit.n_lanes ? arena.saturated_streak + 1 : 0;
        } else {
            std::fill_n(left, n, all);
        }
        if (positions) {
            if (in_wide_groups_) score_wide(rows, n, *positions, unit, left, scores, arena);
            for (int k = 0; k < n; ++k)
                for (; left[k] != 0; left[k] &= left[k] - 1) {
                    const int l = __builtin_ctzll(left[k]);
                    scores[k * kMaxLanes + l] = score_table(rows[k], *positions, unit.lane[l].columns);
                }
            return;
        }
        const int first_width = in_groups && most_score(scoring_, 8) < kAnyScore ? 1 : 0;
        for (int k = 0; k < n; ++k)
            if (left[k] != 0) score_unit(rows[k], unit, left[k], first_width, scores + k * kMaxLanes, arena);
    }

    /// Compute scores of the lanes in `left` in 16 bits, and clear the bits of those that fit. Neighbouring queries
    /// with the same lanes left share the groups.
    void score_wide(const Letters *rows, int n, const PositionScores &positions, const Unit &unit, uint64_t *left,
                    int32_t *scores, Arena &arena) {
        const int most = group_kernels_.vector_bytes / 2;
        arena.wide_scores.resize(kQueriesAtOnce * kMaxLanes);
        uint64_t saturated[kQueriesAtOnce];
        for (int k = 0, end; k < n; k = end) {
            for (end = k + 1; end < n && left[end] == left[k];) ++end;
            for (uint64_t todo = left[k]; todo != 0;) {
                Unit part;
                part.n_lanes = 0, part.shared_rows = true, part.mirrored = false;
                int lane[kMaxLanes];
                for (; todo != 0 && part.n_lanes < most; todo &= todo - 1) {
                    lane[part.n_lanes] = __builtin_ctzll(todo);
                    part.lane[part.n_lanes] = unit.lane[lane[part.n_lanes]];
                    ++part.n_lanes;
                }
                if (part.n_lanes < kLeastWideLanes || part.lane[0].columns.length > kMostGroupColumns) continue;
                group_kernels_.run_wide(scoring_, {part, rows + k, end - k, request_.free_ends, &positions},
                                        arena.groups, arena.wide_scores.data(), saturated);
                for (int query = k; query < end; ++query)
                    for (int l = 0; l < part.n_lanes; ++l) {
                        if (saturated[query - k] >> l & 1) continue;
                        scores[query * kMaxLanes + lane[l]] = arena.wide_scores[(query - k) * kMaxLanes + l];
                        left[query] &= ~(uint64_t{1} << lane[l]);
                    }
            }
        }
    }

    /// Return bits of the lanes whose target is the same sequence as the query.
    static uint64_t lanes_of(const Unit &unit, const Letters &rows) {
        uint64_t lanes = 0;
        for (int l = 0; l < unit.n_lanes; ++l) lanes |= uint64_t{unit.lane[l].columns.codes == rows.codes} << l;
        return lanes;
    }

    /// Compute scores of the lanes in `left` with kernels_.lanes[width], or with those of a later width.
    void score_unit(const Letters &rows, const Unit &unit, uint64_t left, int width, int32_t *scores, Arena &arena) {
        while (width + 1 < kLaneWidths && !fits(scoring_, kernels_.lanes[width]->bits)) ++width;
        const LaneKernels &kernels = *kernels_.lanes[width];
        const int most = kernels_.vector_bytes * 8 / kernels.bits;
        uint64_t again = 0;
        while (left != 0) {
            Unit part;
            part.n_lanes = 0, part.shared_rows = true, part.mirrored = false;
            int lane[kMaxLanes];
            for (; left != 0 && part.n_lanes < most; left &= left - 1) {
                const int l = __builtin_ctzll(left);
                lane[part.n_lanes] = l;
                part.lane[part.n_lanes] = unit.lane[l];
                part.lane[part.n_lanes++].rows = rows;
            }
            LaneResult result[kMaxLanes];
            kernels.run(scoring_, part, arena.units, result);
            for (int l = 0; l < part.n_lanes; ++l)
                if (result[l].saturated) again |= uint64_t{1} << lane[l];
                else scores[lane[l]] = result[l].score;
        }
        if (again != 0) score_unit(rows, unit, again, width + 1, scores, arena);
    }

    /// Compute the score of a pair by a table of the scores of its residues, of 16 bits if they fit.
    int32_t score_table(const Letters &query, const PositionScores &positions, const Letters &target) const {
        const bool is_narrow = scoring_.lowest >= INT16_MIN && scoring_.highest <= INT16_MAX;
        return is_narrow ? score_table_of<int16_t>(query, positions, target, TableType::int16)
                         : score_table_of<int32_t>(query, positions, target, TableType::int32);
    }

    template <class Number>
    int32_t score_table_of(const Letters &query, const PositionScores &positions, const Letters &target,
                           TableType type) const {
        const size_t n = target.length;
        Buffer<Number> table(query.length * n);
        const int32_t *row = positions.scores + (query.codes - positions.codes) * kLetters;
        for (int i = 0; i < query.length; ++i, row += kLetters)
            for (size_t j = 0; j < n; ++j) table[i * n + j] = static_cast<Number>(row[target.codes[j]]);
        const int64_t first = 0, offsets[2][2] = {{0, query.length}, {0, target.length}};
        const TileRequest pair{
            {query.codes, offsets[0], 1}, {target.codes, offsets[1], 1}, &first, &first, 1, request_.free_ends, 1,
            request_.memory_bytes};
        const TableView view{table.data(), type, query.length, target.length};
        const TableRequest request{
            pair, {view}, scoring_.mode, Depth::score, double(scoring_.open), double(scoring_.extend), 1};
        return align_tables(*selected_table_kernels(), request, [](int64_t) { return true; }).columns.score[0];
    }

    /// Offer the pairs of a group that a query may keep. `others`: scores of the query's other strand, or null.
    void select(const Group &group, int64_t query, int32_t *scores, const int32_t *others) {
        uint64_t is_minus = 0;
        if (others)
            for (int l = 0; l < group.n_lanes; ++l)
                if (others[l] > scores[l]) scores[l] = others[l], is_minus |= uint64_t{1} << l;
        const int32_t least = lists_.least(query - request_.first);
        int32_t highest = scores[0];
        for (int l = 1; l < group.n_lanes; ++l) highest = std::max(highest, scores[l]);
        if (highest < least) return;
        for (int l = 0; l < group.n_lanes; ++l) {
            const int32_t target = order_[group.begin + l];
            if (scores[l] < lists_.least(query - request_.first) || scores[l] < request_.least_score(query, target) ||
                (request_.skips_self && target == query))
                continue;
            lists_.offer(query - request_.first, {scores[l], target, is_minus >> l & 1 ? -1 : 1});
        }
    }

    void collect(BestTargets &out) {
        for (int64_t query = request_.first; query < request_.last; ++query)
            for (const Kept &pair : lists_.sorted(query - request_.first)) {
                out.query.push_back(query);
                out.target.push_back(pair.target);
                out.score.push_back(pair.score);
                out.strand.push_back(static_cast<int8_t>(pair.strand));
            }
    }

    const Kernels &kernels_;
    const GroupKernels &group_kernels_;
    const Scoring &scoring_;
    const BestRequest &request_;
    const bool in_groups_, in_wide_groups_;
    Lists lists_;
    std::vector<int32_t> order_;
    std::vector<Group> groups_;
    std::vector<Arena> arenas_;
};

}  // namespace

BestTargets best_targets(const Kernels &kernels, const GroupKernels &group_kernels, const Scoring &scoring,
                         const BestRequest &request, const Poll &poll) {
    return BestRun(kernels, group_kernels, scoring, request).run(poll);
}

}  // namespace tropalign
