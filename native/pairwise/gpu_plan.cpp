// Units of a GPU's work-groups: a word of two 16-bit halves holds two pairs, so a lane computes two. A unit is a group
// of lanes of one of three kinds, the cheapest look-up of scores first; with 4 lanes:
//
//     couple (shared_rows)        side by side (shared_row)      own rows (own_rows)
//     rows  low half   A          rows  both halves   A          lane      0   1   2   3
//           high half  B          lane      0   1   2   3        low half  A1  C3  E5  G7
//     lane      0   1   2   3     low half  1   3   5   7        high half B2  D4  F6  H8
//     columns   1   2   3   4     high half 2   4   6   8
//     pairs A1..A4, B1..B4        pairs A1..A8                   any eight pairs
//
// A couple needs two row sequences with mostly the same columns; if one of them lacks a column, half a lane is
// idle.
#include "gpu_plan.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "orientation.hpp"

namespace tropalign {
namespace {

struct Pair {
    int32_t index, row, column;
    uint8_t flags;
    bool query_in_rows;
};

using Pairs = std::vector<Pair>;
struct Range {
    int64_t begin, end;
    int64_t size() const { return end - begin; }
};

/// Sort stably by key(pair) < n_keys; `spare` is overwritten.
template <class Key>
void sort_by(Pairs &pairs, Pairs &spare, int64_t n_keys, Key &&key) {
    if (n_keys > 8 * static_cast<int64_t>(pairs.size()) + 64) {  // counters would cost more than the pairs
        std::stable_sort(pairs.begin(), pairs.end(), [&](const Pair &a, const Pair &b) { return key(a) < key(b); });
        return;
    }
    std::vector<int32_t> begin(static_cast<size_t>(n_keys) + 1);
    for (const Pair &pair : pairs) ++begin[key(pair) + 1];
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    spare.resize(pairs.size());
    for (const Pair &pair : pairs) spare[begin[key(pair)]++] = pair;
    pairs.swap(spare);
}

/// Builds one launch unit by unit.
class Builder {
  public:
    Builder(const GpuPlanRequest &request, RowSource source, bool strips, int word_bits)
        : request_(request), launch_{source, strips, word_bits, {}, {}, {}, {}} {}

    bool empty() const { return launch_.pair.empty(); }

    void begin_unit(uint8_t flags, int32_t row_lo, int32_t row_hi) {
        launch_.units.insert(launch_.units.end(), {row_lo, row_hi, 0, 0, flags});
        launch_.lanes.resize(launch_.lanes.size() + static_cast<size_t>(request_.group) * kGpuLaneInts, -1);
        first_pair_.push_back(static_cast<int64_t>(launch_.pair.size()));
    }

    /// Add a pair to a lane's half of the last unit. Lanes must ascend, and halves within a lane.
    void add(const Pair &pair, int lane, int half) {
        int32_t *unit = &launch_.units[launch_.units.size() - kGpuUnitInts];
        int32_t *lane_ints =
            &launch_.lanes[launch_.lanes.size() - static_cast<size_t>(request_.group - lane) * kGpuLaneInts];
        if (launch_.source == RowSource::own_rows) lane_ints[half] = pair.row;
        lane_ints[2 + half] = pair.column;
        const int64_t rows = request_.rows[static_cast<int>(launch_.source)];
        unit[2] = std::max(unit[2], static_cast<int32_t>((request_.length[pair.row] + rows - 1) / rows));
        unit[3] = std::max(
            unit[3], static_cast<int32_t>((request_.length[pair.column] + kGpuBlockColumns - 1) / kGpuBlockColumns));
        launch_.pair.push_back(pair.index);
        launch_.where.push_back(gpu_place(lane, half, pair.query_in_rows));
    }

    /// Return the units in descending cost (longest processing time first).
    GpuLaunch finish() {
        const auto n_units = static_cast<int64_t>(first_pair_.size());
        first_pair_.push_back(static_cast<int64_t>(launch_.pair.size()));
        std::vector<int64_t> order(n_units), cost(n_units);
        std::iota(order.begin(), order.end(), 0);
        for (int64_t u = 0; u < n_units; ++u)
            cost[u] = static_cast<int64_t>(launch_.units[u * kGpuUnitInts + 2]) * launch_.units[u * kGpuUnitInts + 3];
        std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return cost[a] > cost[b]; });
        GpuLaunch sorted{launch_.source, launch_.strips, launch_.word_bits, {}, {}, {}, {}};
        sorted.units.reserve(launch_.units.size()), sorted.lanes.reserve(launch_.lanes.size());
        sorted.pair.reserve(launch_.pair.size()), sorted.where.reserve(launch_.pair.size());
        const int64_t lane_ints = static_cast<int64_t>(request_.group) * kGpuLaneInts;
        for (int64_t place = 0; place < n_units; ++place) {
            const int64_t u = order[place];
            auto append = [u](std::vector<int32_t> &to, const std::vector<int32_t> &from, int64_t size) {
                to.insert(to.end(), from.begin() + u * size, from.begin() + (u + 1) * size);
            };
            append(sorted.units, launch_.units, kGpuUnitInts);
            append(sorted.lanes, launch_.lanes, lane_ints);
            for (int64_t k = first_pair_[u]; k < first_pair_[u + 1]; ++k) {
                sorted.pair.push_back(launch_.pair[k]);
                sorted.where.push_back(launch_.where[k] + gpu_place(place * request_.group, 0, false));
            }
        }
        return sorted;
    }

  private:
    const GpuPlanRequest &request_;
    GpuLaunch launch_;
    std::vector<int64_t> first_pair_;
};

/// Plans the oriented pairs of one word width.
class GpuPlanner {
  public:
    GpuPlanner(const GpuPlanRequest &request, int word_bits, Pairs &&pairs, std::vector<GpuLaunch> &launches)
        : request_(request), word_bits_(word_bits), halves_(32 / word_bits), pairs_(std::move(pairs)),
          launches_(launches) {}

    void run() {
        take_strips();
        const auto &rank = request_.rank;
        sort_by(pairs_, spare_, request_.n_sequences, [&](const Pair &p) { return rank[p.column]; });
        sort_by(pairs_, spare_, request_.n_sequences, [&](const Pair &p) { return rank[p.row]; });
        sort_by(pairs_, spare_, kGpuFlagValues, [&](const Pair &p) { return p.flags; });
        Builder couples(request_, RowSource::shared_rows, false, word_bits_);
        Builder singles(request_, RowSource::shared_row, false, word_bits_);
        std::vector<Range> shared;
        Pairs unshared;
        for (int64_t begin = 0, end; begin < size(); begin = end) {
            end = run_end(begin);
            if (end - begin >= request_.group / 2) shared.push_back({begin, end});
            else unshared.insert(unshared.end(), pairs_.begin() + begin, pairs_.begin() + end);
        }
        for (size_t k = 0; k < shared.size(); ++k) {
            const Range a = shared[k], none{0, 0};
            if (halves_ == 1) {
                couple(couples, a, none);
            } else if (k + 1 < shared.size() && share_columns(a, shared[k + 1])) {
                couple(couples, a, shared[++k]);
            } else {
                side_by_side(singles, a);
            }
        }
        add(couples), add(singles);
        take_unshared(std::move(unshared));
    }

  private:
    int64_t size() const { return static_cast<int64_t>(pairs_.size()); }

    void add(Builder &builder) {
        if (!builder.empty()) launches_.push_back(builder.finish());
    }

    int64_t run_end(int64_t begin) const {
        int64_t end = begin + 1;
        while (end < size() && pairs_[end].row == pairs_[begin].row && pairs_[end].flags == pairs_[begin].flags) ++end;
        return end;
    }

    /// Give each pair with many cells its own group.
    void take_strips() {
        Builder strips(request_, RowSource::own_rows, true, word_bits_);
        std::erase_if(pairs_, [&](const Pair &pair) {
            if (request_.length[pair.row] * request_.length[pair.column] < request_.strip_cells) return false;
            strips.begin_unit(pair.flags, -1, -1);
            strips.add(pair, 0, 0);
            return true;
        });
        add(strips);
    }

    /// Call visit(pairs of a, pairs of b) for every column that either row sequence has, in the order of ranks.
    template <class Visit>
    void merge(Range a, Range b, Visit &&visit) const {
        auto end_of_column = [&](int64_t k, int64_t end) {
            const int32_t column = pairs_[k].column;
            while (k < end && pairs_[k].column == column) ++k;
            return k;
        };
        while (a.size() || b.size()) {
            const int32_t of_a = a.size() ? request_.rank[pairs_[a.begin].column] : INT32_MAX;
            const int32_t of_b = b.size() ? request_.rank[pairs_[b.begin].column] : INT32_MAX;
            const Range from_a{a.begin, of_a <= of_b ? end_of_column(a.begin, a.end) : a.begin};
            const Range from_b{b.begin, of_b <= of_a ? end_of_column(b.begin, b.end) : b.begin};
            visit(from_a, from_b);
            a.begin = from_a.end, b.begin = from_b.end;
        }
    }

    /// True if most lanes of a couple of row sequences would have a pair in both halves: at most 0.7 lanes per
    /// pair, compared with 0.5 side by side. Beyond that the idle halves cost more than the second load per cell
    /// that a couple saves.
    bool share_columns(Range a, Range b) const {
        if (pairs_[a.begin].flags != pairs_[b.begin].flags) return false;
        int64_t lanes = 0;
        merge(a, b, [&](Range, Range) { ++lanes; });
        return 10 * lanes <= 7 * (a.size() + b.size());
    }

    /// Add units with one lane per column sequence, one half per row sequence.
    void couple(Builder &builder, Range a, Range b) const {
        int lane = request_.group;
        merge(a, b, [&](Range from_a, Range from_b) {
            if (lane == request_.group) {
                const Pair &first = pairs_[a.begin];
                builder.begin_unit(first.flags, first.row, b.size() ? pairs_[b.begin].row : -1);
                lane = 0;
            }
            for (int64_t k = from_a.begin; k < from_a.end; ++k) builder.add(pairs_[k], lane, 0);
            for (int64_t k = from_b.begin; k < from_b.end; ++k) builder.add(pairs_[k], lane, 1);
            ++lane;
        });
    }

    /// Add units with two columns of neighbouring lengths per lane.
    void side_by_side(Builder &builder, Range a) const {
        for (int64_t k = a.begin; k < a.end; ++k) {
            const auto place = static_cast<int>((k - a.begin) % (2 * request_.group));
            if (place == 0) builder.begin_unit(pairs_[k].flags, pairs_[k].row, -1);
            builder.add(pairs_[k], place / 2, place % 2);
        }
    }

    /// Add units of pairs that share only flags and approximate lengths.
    void take_unshared(Pairs &&unshared) {
        const auto &rank = request_.rank;
        std::sort(unshared.begin(), unshared.end(), [&](const Pair &a, const Pair &b) {
            const int64_t rows_a = length_class(request_.length[a.row]), rows_b = length_class(request_.length[b.row]);
            if (a.flags != b.flags) return a.flags < b.flags;
            if (rows_a != rows_b) return rows_a > rows_b;
            if (rank[a.column] != rank[b.column]) return rank[a.column] < rank[b.column];
            return a.index < b.index;
        });
        Builder builder(request_, RowSource::own_rows, false, word_bits_);
        const int places = request_.group * halves_;
        int place = places;
        int64_t rows = 0, columns = 0;  // of the longest in the unit: memory is proportional to their product
        for (size_t k = 0; k < unshared.size(); ++k) {
            rows = std::max(rows, request_.length[unshared[k].row]);
            columns = std::max(columns, request_.length[unshared[k].column]);
            if (place == places || unshared[k].flags != unshared[k - 1].flags ||
                rows * columns > request_.strip_cells) {
                builder.begin_unit(unshared[k].flags, -1, -1);
                place = 0, rows = request_.length[unshared[k].row], columns = request_.length[unshared[k].column];
            }
            builder.add(unshared[k], place / halves_, place % halves_);
            ++place;
        }
        add(builder);
    }

    const GpuPlanRequest &request_;
    const int word_bits_, halves_;
    Pairs pairs_, spare_;
    std::vector<GpuLaunch> &launches_;
};

/// Return how often each sequence occurs.
std::vector<int32_t> occurrences(const GpuPlanRequest &request) {
    std::vector<int32_t> counts(request.n_sequences);
    for (int64_t k = 0; k < request.n_pairs; ++k) ++counts[request.query[k]], ++counts[request.target[k]];
    return counts;
}

Pair oriented(const GpuPlanRequest &request, const std::vector<int32_t> &counts, int64_t k) {
    const int64_t query = request.query[k], target = request.target[k];
    const Orientation chosen = orient(request.length[query], request.length[target], counts[query], counts[target]);
    const auto &free = request.free_ends;
    const uint8_t of_query = free[0] * kGpuFreeRowsBegin | free[1] * kGpuFreeRowsEnd;
    const uint8_t of_target = free[2] * kGpuFreeRowsBegin | free[3] * kGpuFreeRowsEnd;
    const uint8_t flags = (chosen.query_in_rows ? of_query | 2 * of_target : of_target | 2 * of_query) |
                          (chosen.mirrored ? kGpuMirrored : 0);
    const auto row = static_cast<int32_t>(chosen.query_in_rows ? query : target);
    const auto column = static_cast<int32_t>(chosen.query_in_rows ? target : query);
    return {static_cast<int32_t>(k), row, column, flags, chosen.query_in_rows};
}

bool needs_wide(const GpuPlanRequest &request, const Pair &pair) {
    const int64_t m = request.length[pair.row], n = request.length[pair.column];
    const int64_t most =
        std::min(request.bound[pair.row], request.bound[pair.column]) + request.extend * std::max(m, n);
    return m * n >= request.strip_cells || most >= request.wide_from;
}

}  // namespace

std::vector<GpuLaunch> plan_gpu(const GpuPlanRequest &request) {
    if (request.n_pairs > INT32_MAX / 4 / request.group) throw std::length_error("too many pairs for one plan");
    const std::vector<int32_t> counts = occurrences(request);
    Pairs narrow, wide;
    narrow.reserve(request.n_pairs);
    for (int64_t k = 0; k < request.n_pairs; ++k) {
        const Pair pair = oriented(request, counts, k);
        (request.word_bits == 32 || needs_wide(request, pair) ? wide : narrow).push_back(pair);
    }
    std::vector<GpuLaunch> launches;
    GpuPlanner(request, 16, std::move(narrow), launches).run();
    GpuPlanner(request, 32, std::move(wide), launches).run();
    return launches;
}

}  // namespace tropalign
