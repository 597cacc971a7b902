#include "tile.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "../compute/parallel.hpp"
#include "plan.hpp"

namespace tropalign {
namespace {

/// What one thread keeps: its buffers, and its paths until all threads are done and they are put in order.
struct Arena {
    Scratch scratch;
    std::vector<Buffer<uint32_t>> blocks;
    size_t used = 0;           // of the last block
    int saturated_streak = 0;  // units in a row most of whose lanes saturated 8 bits

    /// Room for `n` numbers, which stay where they are.
    uint32_t *room(size_t n) {
        constexpr size_t kFirst = size_t{1} << 14, kBlock = size_t{1} << 20;
        if (blocks.empty() || used + n > blocks.back().size()) {
            blocks.emplace_back(std::max(n, blocks.empty() ? kFirst : kBlock));
            used = 0;
        }
        uint32_t *place = blocks.back().data() + used;
        used += n;
        return place;
    }
};

struct Path {
    const uint32_t *runs;
    int32_t length;
};

class TileRun {
  public:
    TileRun(const Kernels &kernels, const Scoring &scoring, const TileRequest &request)
        : kernels_(kernels), scoring_(scoring), request_(request), arenas_(request.n_threads) {
        size_t n = request.n_pairs;
        out_.score = Buffer<int32_t>(n);
        if (scoring.depth == Depth::score) return;
        for (auto *column : {&out_.query_start, &out_.query_end, &out_.target_start, &out_.target_end})
            *column = Buffer<int32_t>(n);
        if (scoring.depth == Depth::ends) return;
        for (auto *column : {&out_.identical, &out_.similar, &out_.gaps, &out_.columns}) *column = Buffer<int32_t>(n);
        paths_ = Buffer<Path>(n);
    }

    TileColumns run(const std::function<bool(int64_t)> &poll) {
        int64_t mask_bytes = request_.memory_bytes / request_.n_threads;
        Plan plan = make_plan(request_, scoring_, kernels_.vector_bytes, mask_bytes);
        int64_t n_units = static_cast<int64_t>(plan.units.size());
        int64_t at_once = std::clamp<int64_t>(n_units / (32 * request_.n_threads), 1, 16);
        out_.finished = parallel(
            request_.n_threads, n_units, at_once,
            [&](int thread, int64_t k) { run_unit(plan, plan.units[k], arenas_[thread]); },
            [&](int64_t begun) { return poll(begun < n_units ? plan.units[begun].pairs_before : request_.n_pairs); });
        for (size_t k = 0; k < plan.long_pairs.size() && out_.finished; ++k) {
            int64_t done = request_.n_pairs - static_cast<int64_t>(plan.long_pairs.size() - k);
            align_long(plan.long_pairs[k], [&](int64_t) { return out_.finished = poll(done); });
        }
        for (Arena &arena : arenas_) {
            out_.useful_cells += arena.scratch.useful_cells;
            out_.swept_cells += arena.scratch.swept_cells;
            out_.walk_seconds += arena.scratch.walk_seconds;
            out_.unit_seconds += arena.scratch.unit_seconds;
        }
        if (out_.finished && scoring_.depth == Depth::alignment) collect_paths();
        return std::move(out_);
    }

  private:
    void run_unit(const Plan &plan, const PlannedUnit &planned, Arena &arena) {
        const int64_t *rows = plan.rows.data() + planned.begin;
        Unit unit;
        bool rows_are_query[kMaxLanes];
        unit.n_lanes = planned.n_lanes;
        unit.shared_rows = planned.shared_rows;
        unit.rows_are_short = planned.rows_are_short;
        for (int l = 0; l < planned.n_lanes; ++l) {
            rows_are_query[l] = plan.rows_are_query[planned.begin + l];
            unit.lane[l] = lane_pair(request_, rows[l], rows_are_query[l]);
        }
        int bits = 8;
        if (scoring_.mode == Mode::local && arena.saturated_streak >= 4 && (arena.saturated_streak++ & 31)) bits = 16;
        align_lanes(unit, rows, rows_are_query, bits, arena);
    }

    /// Aligns the lanes with `bits` or, where these cannot hold the scoring, more; saturated lanes again with more.
    void align_lanes(const Unit &unit, const int64_t *rows, const bool *rows_are_query, int bits, Arena &arena) {
        while (bits < 32 && !kernels_.fits(scoring_, bits)) bits *= 2;
        const int width = kernels_.vector_bytes * 8 / bits;
        Unit again = unit;
        int64_t again_rows[kMaxLanes];
        bool again_query[kMaxLanes];
        again.n_lanes = 0;
        for (int from = 0; from < unit.n_lanes; from += width) {
            Unit part = unit;
            part.n_lanes = std::min(width, unit.n_lanes - from);
            std::copy_n(unit.lane + from, part.n_lanes, part.lane);
            LaneResult result[kMaxLanes];
            kernels_.run(scoring_, part, bits, arena.scratch, result);
            for (int l = 0; l < part.n_lanes; ++l) {
                if (result[l].saturated) {
                    again.lane[again.n_lanes] = part.lane[l];
                    again_query[again.n_lanes] = rows_are_query[from + l];
                    again_rows[again.n_lanes++] = rows[from + l];
                } else {
                    keep(rows[from + l], rows_are_query[from + l], result[l], arena);
                }
            }
        }
        if (bits == 8) {
            if (again.n_lanes * 2 > unit.n_lanes) ++arena.saturated_streak;
            else arena.saturated_streak = 0;
        }
        if (again.n_lanes > 0) align_lanes(again, again_rows, again_query, bits * 2, arena);
    }

    void align_long(int64_t row, const Poll &poll) {
        const bool rows_are_query = request_.queries[request_.query_index[row]].length >=
                                    request_.targets[request_.target_index[row]].length;
        const LanePair pair = lane_pair(request_, row, rows_are_query);
        LaneResult result{};
        Buffer<uint32_t> path;
        kernels_.run_long(scoring_, pair, request_.n_threads, poll, result, path);
        if (out_.finished) keep(row, rows_are_query, result, arenas_[0]);
    }

    void keep(int64_t row, bool rows_are_query, const LaneResult &r, Arena &arena) {
        out_.score[row] = r.score;
        if (scoring_.depth == Depth::score) return;
        out_.query_start[row] = rows_are_query ? r.row_begin : r.column_begin;
        out_.query_end[row] = rows_are_query ? r.row_end : r.column_end;
        out_.target_start[row] = rows_are_query ? r.column_begin : r.row_begin;
        out_.target_end[row] = rows_are_query ? r.column_end : r.row_end;
        if (scoring_.depth == Depth::ends) return;
        out_.identical[row] = r.identical;
        out_.similar[row] = r.similar;
        out_.gaps[row] = r.gaps;
        out_.columns[row] = r.columns;
        uint32_t *runs = arena.room(r.path_length);
        paths_[row] = {runs, r.path_length};
        for (int k = 0; k < r.path_length; ++k) {
            const uint32_t operation = r.path[k] & 15;  // of columns as query, insertions and deletions change places
            runs[k] = !rows_are_query && (operation == 1 || operation == 2) ? r.path[k] ^ 3 : r.path[k];
        }
    }

    void collect_paths() {
        out_.path_offsets = Buffer<int64_t>(request_.n_pairs + 1);
        int64_t total = 0;
        for (int64_t k = 0; k < request_.n_pairs; ++k) {
            out_.path_offsets[k] = total;
            total += paths_[k].length;
        }
        out_.path_offsets[request_.n_pairs] = total;
        out_.path = Buffer<uint32_t>(total);
        for (int64_t k = 0; k < request_.n_pairs; ++k)
            if (paths_[k].length)
                std::memcpy(out_.path.data() + out_.path_offsets[k], paths_[k].runs, sizeof(uint32_t) * paths_[k].length);
    }

    const Kernels &kernels_;
    const Scoring &scoring_;
    const TileRequest &request_;
    std::vector<Arena> arenas_;
    Buffer<Path> paths_;
    TileColumns out_;
};

}  // namespace

TileColumns align_tile(const Kernels &kernels, const Scoring &scoring, const TileRequest &request,
                       const std::function<bool(int64_t)> &poll) {
    return TileRun(kernels, scoring, request).run(poll);
}

}  // namespace tropalign
