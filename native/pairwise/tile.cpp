// Units of a tile over threads. In local mode a thread whose units saturate 8-bit lanes one after another starts with
// 16 bits at once, and tries 8 again now and then: other sequences may come.
#include "tile.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>
#include <vector>

#include "../compute/parallel.hpp"
#include "cpu_plan.hpp"
#include "lane_widths.hpp"
#include "orientation.hpp"
#include "starts.hpp"

namespace tropalign {
namespace {

/// After this many saturated units in a row a thread starts with 16 bits ...
constexpr int kSaturatedUnits = 4;
/// ... but for every 32nd unit: one wasted sweep in 32 costs 1.5 % (8-bit lanes take half as long as 16-bit ones).
constexpr int kTriesAgain = 32;
/// A unit of 16 pairs of some 700 residues fits, with directions. With less, more threads would make pairs run alone.
constexpr int64_t kLeastThreadBytes = int64_t{4} << 20;
/// One part in so many of the memory that a tile may take stays mapped for the next one (KEPT_SHARE in
/// pairwise/task.py).
constexpr int64_t kKeptShare = 4;
/// Threads take units in runs of up to 16, as long as each gets 32 runs: fewer turns at the counter, shares still
/// equal.
constexpr int64_t kRunsPerThread = 32, kMostUnitsPerRun = 16;

/// Paths of one thread, until all threads are done and they are put in order. They stay where they are.
class PathStore {
  public:
    /// Room for `n` numbers.
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

/// What one thread keeps from unit to unit.
struct Arena {
    UnitScratch scratch;
    PathStore paths;
    int saturated_streak = 0;  // units in a row most of whose lanes saturated 8 bits

    /// Whether the next unit should start with 16 bits. Within a streak each call counts as a unit.
    bool starts_wide() { return saturated_streak >= kSaturatedUnits && saturated_streak++ % kTriesAgain != 0; }
};

struct Path {
    const uint32_t *runs;
    int32_t length;
};

/// Pairs that run together, with what is needed to put their results in place.
struct Lanes {
    Unit unit;
    uint32_t pair[kMaxLanes];
    bool query_in_rows[kMaxLanes];
};

class TileRun {
  public:
    TileRun(const Kernels &kernels, const Scoring &scoring, const TileRequest &request)
        : kernels_(kernels), scoring_(scoring),
          sweep_(StartSearch::suits(scoring, request) ? scoring.with(Pass::end_cells) : scoring), request_(request),
          n_threads_(
              static_cast<int>(std::clamp<int64_t>(request.memory_bytes / kLeastThreadBytes, 1, request.n_threads))) {
        const size_t n = request.n_pairs;
        out_.score = Buffer<int32_t>(n);
        if (scoring.depth == Depth::score) return;
        for (auto *column : {&out_.query_start, &out_.query_end, &out_.target_start, &out_.target_end})
            *column = Buffer<int32_t>(n);
        if (scoring.depth == Depth::ends) return;
#define X(count) out_.count = Buffer<int32_t>(n);
        TROPALIGN_COUNTS(X)
#undef X
        paths_ = Buffer<Path>(n);
    }

    TileColumns run(const Poll &poll) {
        // A quarter at least is left for paths.
        const bool has_paths = scoring_.depth == Depth::alignment;
        const int64_t for_units = has_paths ? request_.memory_bytes / 4 * 3 : request_.memory_bytes;
        const size_t unit_bytes = for_units / n_threads_;
        const CpuPlan plan = make_plan(request_, sweep_, kernels_, unit_bytes);
        path_bytes_ = request_.memory_bytes - static_cast<int64_t>(plan.most_bytes) * n_threads_;
        for (int t = 0; t < n_threads_; ++t) arenas_.push_back({UnitScratch(unit_bytes), {}, 0});
        run_units(plan, poll);
        if (out_.finished && sweep_.pass == Pass::end_cells) find_starts(plan, unit_bytes, poll);
        for (Arena &arena : arenas_) {
            out_.useful_cells += arena.scratch.useful_cells;
            out_.swept_cells += arena.scratch.swept_cells;
            out_.walk_seconds += arena.scratch.walk_seconds;
            out_.unit_seconds += arena.scratch.unit_seconds;
            out_.unit_bytes += arena.scratch.most_bytes();
            arena.scratch = UnitScratch();
        }
        path_bytes_ += static_cast<int64_t>(plan.most_bytes) * n_threads_;
        for (size_t k = 0; k < plan.long_pairs.size() && out_.finished; ++k) {
            const int64_t done = request_.n_pairs - static_cast<int64_t>(plan.long_pairs.size() - k);
            align_long(plan.long_pairs[k], [&](int64_t) { return poll(done); });
        }
        if (out_.finished && scoring_.depth == Depth::alignment) collect_paths();
        return std::move(out_);
    }

  private:
    void run_units(const CpuPlan &plan, const Poll &poll) {
        const auto n_units = static_cast<int64_t>(plan.units.size());
        const int64_t at_once = std::clamp<int64_t>(n_units / (kRunsPerThread * n_threads_), 1, kMostUnitsPerRun);
        out_.finished = parallel(
            n_threads_, n_units, at_once,
            [&](int thread, int64_t k) { run_unit(plan, plan.units[k], arenas_[thread]); },
            [&](int64_t begun) { return poll(begun < n_units ? plan.units[begun].pairs_before : request_.n_pairs); });
    }

    void find_starts(const CpuPlan &plan, size_t unit_bytes, const Poll &poll) {
        std::vector<UnitScratch *> scratches;
        for (Arena &arena : arenas_) scratches.push_back(&arena.scratch);
        out_.finished = StartSearch(kernels_, scoring_, request_, out_).run(plan.pairs, scratches, unit_bytes, poll);
    }

    void run_unit(const CpuPlan &plan, const PlannedUnit &planned, Arena &arena) {
        Lanes lanes;
        lanes.unit.n_lanes = planned.n_lanes;
        lanes.unit.shared_rows = planned.shared_rows;
        lanes.unit.mirrored = planned.mirrored;
        for (int l = 0; l < planned.n_lanes; ++l) {
            lanes.pair[l] = plan.pairs[planned.begin + l];
            lanes.query_in_rows[l] = plan.query_in_rows[planned.begin + l];
            lanes.unit.lane[l] = lane_pair(request_, lanes.pair[l], lanes.query_in_rows[l]);
        }
        align_lanes(lanes, scoring_.mode == Mode::local && arena.starts_wide() ? 1 : 0, arena);
    }

    void align_lanes(const Lanes &lanes, int width, Arena &arena) {
        const int saturated = run_widths(
            kernels_, sweep_, lanes.unit, width, nullptr, arena.scratch,
            [&](int l, const LaneResult &result) { keep(lanes.pair[l], lanes.query_in_rows[l], result, arena.paths); });
        if (width > 0 || !fits(sweep_, kernels_.lanes[0]->bits)) return;
        if (saturated * 2 > lanes.unit.n_lanes) ++arena.saturated_streak;
        else arena.saturated_streak = 0;
    }

    void align_long(int64_t pair, const Poll &poll) {
        const Orientation chosen = longer_in_rows(request_.queries[request_.query_index[pair]].length,
                                                  request_.targets[request_.target_index[pair]].length);
        const LanePair lanes = lane_pair(request_, pair, chosen.query_in_rows);
        LaneResult result{};
        Buffer<uint32_t> path;
        const int64_t memory = std::max<int64_t>(path_bytes_, 0);
        out_.finished = kernels_.run_long(scoring_, lanes, n_threads_, memory, poll, result, path);
        if (out_.finished) keep(pair, chosen.query_in_rows, result, arenas_[0].paths);
    }

    void keep(int64_t pair, bool query_in_rows, const LaneResult &r, PathStore &paths) {
        out_.score[pair] = r.score;
        if (scoring_.depth == Depth::score) return;
        out_.query_start[pair] = query_in_rows ? r.row_begin : r.column_begin;
        out_.query_end[pair] = query_in_rows ? r.row_end : r.column_end;
        out_.target_start[pair] = query_in_rows ? r.column_begin : r.row_begin;
        out_.target_end[pair] = query_in_rows ? r.column_end : r.row_end;
        if (scoring_.depth == Depth::ends) return;
#define X(count) out_.count[pair] = r.count;
        TROPALIGN_COUNTS(X)
#undef X
        // Here, and once more in order.
        if ((path_bytes_ -= 2 * int64_t{sizeof(uint32_t)} * r.path_length) < 0) throw std::bad_alloc();
        uint32_t *runs = paths.room(r.path_length);
        paths_[pair] = {runs, r.path_length};
        for (int k = 0; k < r.path_length; ++k) {
            const uint32_t operation = r.path[k] & 15;  // with columns as query, insertions and deletions change places
            runs[k] = !query_in_rows && (operation == 1 || operation == 2) ? r.path[k] ^ 3 : r.path[k];
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
        for (int64_t k = 0; k < request_.n_pairs; ++k) {
            uint32_t *to = out_.path.data() + out_.path_offsets[k];
            if (paths_[k].length) std::memcpy(to, paths_[k].runs, sizeof(uint32_t) * paths_[k].length);
        }
    }

    const Kernels &kernels_;
    const Scoring &scoring_;
    const Scoring sweep_;  // for units: with ends, starts are found afterwards (starts.hpp)
    const TileRequest &request_;
    const int n_threads_;
    std::vector<Arena> arenas_;
    std::atomic<int64_t> path_bytes_{0};  // left for paths
    Buffer<Path> paths_;
    TileColumns out_;
};

}  // namespace

TileColumns align_tile(const Kernels &kernels, const Scoring &scoring, const TileRequest &request, const Poll &poll) {
    keep_at_most(static_cast<size_t>(request.memory_bytes / kKeptShare));
    return TileRun(kernels, scoring, request).run(poll);
}

}  // namespace tropalign
