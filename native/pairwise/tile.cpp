// A tile's pairs over threads: first those of similar sequences, each alone (band_trials.hpp), and scores of many
// short ones a group at a time (score_groups.hpp); then the other pairs in units; last the pairs too long for a unit,
// one at a time. Waves (similar_pair.hpp) are tried first for pairs that are close, that are in a unit of a few lanes,
// or that are too long for a unit.
//
// In local mode a thread whose units saturate 8-bit lanes one after another starts with 16 bits, and tries 8 again
// now and then, since later sequences may differ.
#include "tile.hpp"

#include <algorithm>
#include <atomic>
#include <vector>

#include "../compute/parallel.hpp"
#include "../simd/dispatch.hpp"
#include "band_trials.hpp"
#include "cpu_plan.hpp"
#include "interface.hpp"
#include "kept_rows.hpp"
#include "lane_widths.hpp"
#include "score_groups.hpp"

namespace tropalign {

TROPALIGN_DISPATCH_LOOKUPS(Kernels, kernels)

namespace {

/// After this many consecutive saturated units a thread starts with 16 bits.
constexpr int kSaturatedUnits = 4;
/// Every 32nd unit is tried with 8 bits nevertheless: one wasted sweep in 32 costs 1.5 % (8-bit lanes take half as
/// long as 16-bit ones).
constexpr int kUnitsPerNarrowTry = 32;
/// Fewest bytes per thread: a unit of 16 pairs of some 700 residues, with directions. With less, pairs would run alone.
constexpr int64_t kLeastThreadBytes = int64_t{4} << 20;
/// 1 / kKeptShare of the memory that a tile may take stays mapped for the next one (KEPT_SHARE in
/// pairwise/plan.py).
constexpr int64_t kKeptShare = 4;
/// Threads take units in runs of up to 16, as long as each gets 32 runs: fewer accesses to the counter, shares
/// still equal.
constexpr int64_t kUnitRunsPerThread = 32, kMostUnitsPerRun = 16;
/// Units that fill at most 1 / kFewLanesShare of the lanes are searched for similar pairs first.
constexpr int kFewLanesShare = 8;
/// Maximum memory for the waves of a similar pair: enough for 100,000 residues at 1 %.
constexpr int64_t kMostSimilarBytes = int64_t{192} << 20;

/// True if only ends are requested, and every alignment starts at the first residue of both sequences.
bool needs_no_starts(const Scoring &scoring, const FreeEnds &free) {
    if (scoring.depth != Depth::ends) return false;
    switch (scoring.mode) {
        case Mode::local:
            return false;
        case Mode::global:
            return !free.query_start && !free.target_start;
    }
    __builtin_unreachable();
}

/// Memory that one thread keeps from unit to unit.
struct UnitArena {
    UnitScratch scratch;
    PathStore paths;
    int saturated_streak = 0;  // consecutive units most of whose lanes saturated 8 bits

    /// True if the next unit should start with 16 bits. Within a streak each call counts as a unit.
    bool starts_wide() { return saturated_streak >= kSaturatedUnits && saturated_streak++ % kUnitsPerNarrowTry != 0; }
};

/// Pairs that run in parallel, with the data needed to store their results.
struct Lanes {
    Unit unit;
    uint32_t pair[kMaxLanes];
    bool query_in_rows[kMaxLanes];
};

class TileRun {
  public:
    TileRun(const Kernels &kernels, const Scoring &scoring, const TileRequest &request)
        : kernels_(kernels), scoring_(scoring),
          sweep_(needs_no_starts(scoring, request.free_ends) ? scoring.with(Pass::end_cells) : scoring),
          oriented_(scoring), oriented_sweep_(sweep_), asked_(request), request_(request),
          n_threads_(
              static_cast<int>(std::clamp<int64_t>(request.memory_bytes / kLeastThreadBytes, 1, request.n_threads))),
          rows_(scoring.depth, request.n_pairs, request.memory_bytes) {}

    TileColumns run(const Poll &asked) {
        const Poll poll = [&](int64_t begun) {
            if (!asked(begun)) is_stopped_ = true;
            return !is_stopped_;
        };
        // At least a quarter is left for paths.
        const bool has_paths = scoring_.depth == Depth::alignment;
        const int64_t for_units = has_paths ? request_.memory_bytes / 4 * 3 : request_.memory_bytes;
        const size_t unit_bytes = for_units / n_threads_;
        run_bands(unit_bytes, poll);
        if (out_.finished) run_groups(poll);
        if (out_.finished && request_.n_pairs > 0)
            run_whole(unit_bytes, [&](int64_t k) { return poll(std::min(n_done_ + k, asked_.n_pairs)); });
        take_account();
        return rows_.take();
    }

  private:
    /// Align pairs of similar sequences; those that need the whole matrix stay in request_.
    void run_bands(size_t unit_bytes, const Poll &poll) {
        const BandTrials trials(request_, oriented_, *selected_band_kernels(), unit_bytes);
        const auto for_waves = std::min<int64_t>(unit_bytes / 2, kMostSimilarBytes);
        const size_t most_bytes = std::max<size_t>(trials.most_bytes(), trials.any_close() ? for_waves : 0);
        begin_arenas(most_bytes, most_bytes);
        if (trials.count() == 0) return;
        std::vector<uint8_t> is_done(request_.n_pairs);
        auto align = [&](int thread, int64_t k) {
            UnitArena &arena = arenas_[thread];
            const int64_t pair = trials.pair(k);
            if (!trials.is_close(k) || !align_similar(pair, for_waves, arena)) {
                LaneResult result;
                if (!trials.align(k, arena.scratch, result)) return;
                keep(pair, trials.query_in_rows(k), result, arena.paths);
            }
            is_done[pair] = 1;
            ++n_done_;
        };
        const int64_t at_once =
            std::clamp<int64_t>(trials.count() / (kUnitRunsPerThread * n_threads_), 1, kMostUnitsPerRun);
        if (trials.count() == 1) {  // faster than starting a thread
            poll_within(poll, 0);
            align(0, 0);
            out_.finished = !is_stopped_;
        } else {
            out_.finished =
                parallel(n_threads_, trials.count(), at_once, align, [&](int64_t) { return poll(n_done_); });
        }
        keep_rest([&](auto each) {
            for (int64_t k = 0; k < request_.n_pairs; ++k)
                if (!is_done[k]) each(k);
        });
    }

    /// Compute scores by groups in 8 bits; the others stay in request_.
    void run_groups(const Poll &poll) {
        ScoreGroups groups(request_, sweep_, *selected_group_kernels());
        if (groups.n_items() == 0) return;
        std::vector<GroupScratch> scratches(n_threads_);
        begin_arenas(0, 0);
        out_.finished = parallel(
            n_threads_, groups.n_items(), 1,
            [&](int thread, int64_t item) {
                n_done_ += groups.run(item, scratches[thread], arenas_[thread].scratch,
                                      [&](int64_t pair, int32_t score) { out_.score[number_of(pair)] = score; });
            },
            [&](int64_t) { return poll(n_done_); });
        if (out_.finished) keep_rest([&](auto each) { groups.for_each_left(each); });
    }

    /// Keep only some pairs in request_: those that for_each_left(each) passes to each(pair).
    template <class ForEach>
    void keep_rest(ForEach for_each_left) {
        std::vector<int64_t> number, query, target;
        for_each_left([&](int64_t k) {
            number.push_back(number_of(k));
            query.push_back(request_.query_index[k]), target.push_back(request_.target_index[k]);
        });
        number_ = std::move(number), rest_query_ = std::move(query), rest_target_ = std::move(target);
        request_.n_pairs = static_cast<int64_t>(number_.size());
        request_.query_index = rest_query_.data(), request_.target_index = rest_target_.data();
    }

    void run_whole(size_t unit_bytes, const Poll &poll) {
        const CpuPlan plan = make_plan(request_, sweep_, kernels_, unit_bytes);
        similar_bytes_ = std::min<int64_t>(unit_bytes / 2, kMostSimilarBytes);
        begin_arenas(plan.most_bytes, unit_bytes);
        run_units(plan, poll);
        begin_arenas(0, 0);
        for (size_t k = 0; k < plan.long_pairs.size() && out_.finished; ++k) {
            const int64_t done = request_.n_pairs - static_cast<int64_t>(plan.long_pairs.size() - k);
            poll_within(poll, done);
            align_long(plan.long_pairs[k], [&](int64_t) { return poll(done); });
        }
    }

    /// Allocate new buffers of up to `most` bytes per thread for the next stage, which needs `taken`; the rest is
    /// for paths.
    void begin_arenas(size_t taken, size_t most) {
        take_account();
        while (arenas_.size() < static_cast<size_t>(n_threads_)) arenas_.push_back({});
        for (UnitArena &arena : arenas_) {
            arena.scratch = UnitScratch(most);
            arena.scratch.stop_wanted = [this] { return is_stopped_.load(std::memory_order_relaxed); };
        }
        rows_.path_bytes += (static_cast<int64_t>(taken_) - static_cast<int64_t>(taken)) * n_threads_;
        taken_ = taken;
    }

    /// Make long computations poll now and then while the calling thread aligns a pair alone.
    void poll_within(const Poll &poll, int64_t begun) {
        arenas_[0].scratch.stop_wanted = [this, &poll, begun, timer = PollTimer()]() mutable {
            return is_stopped_ || (timer.is_due() && !poll(begun));
        };
    }

    /// Add up the statistics of the threads' buffers, and return the buffers.
    void take_account() {
        size_t bytes = 0;
        for (UnitArena &arena : arenas_) {
            out_.useful_cells += arena.scratch.useful_cells;
            out_.swept_cells += arena.scratch.swept_cells;
            out_.walk_seconds += arena.scratch.walk_seconds;
            out_.unit_seconds += arena.scratch.unit_seconds;
            bytes += arena.scratch.most_bytes();
            arena.scratch = UnitScratch();
        }
        out_.unit_bytes = std::max(out_.unit_bytes, bytes);
    }

    void run_units(const CpuPlan &plan, const Poll &poll) {
        const auto n_units = static_cast<int64_t>(plan.units.size());
        const int64_t at_once = std::clamp<int64_t>(n_units / (kUnitRunsPerThread * n_threads_), 1, kMostUnitsPerRun);
        out_.finished = parallel(
            n_threads_, n_units, at_once,
            [&](int thread, int64_t k) { run_unit(plan, plan.units[k], arenas_[thread]); },
            [&](int64_t begun) { return poll(begun < n_units ? plan.units[begun].pairs_before : request_.n_pairs); });
    }

    void run_unit(const CpuPlan &plan, const PlannedUnit &planned, UnitArena &arena) {
        Lanes lanes;
        lanes.unit.n_lanes = planned.n_lanes;
        lanes.unit.shared_rows = planned.shared_rows;
        lanes.unit.mirrored = planned.mirrored;
        for (int l = 0; l < planned.n_lanes; ++l) {
            const PlannedLane &lane = plan.lanes[planned.begin + l];
            lanes.pair[l] = lane.pair;
            lanes.query_in_rows[l] = lane.query_in_rows;
            lanes.unit.lane[l] = lane_of(request_, lane.query, lane.target, lane.query_in_rows);
            rows_.prefetch(number_of(lane.pair));
        }
        if (lanes.unit.n_lanes * kFewLanesShare <= kernels_.vector_bytes) align_similar(lanes, arena);
        if (lanes.unit.n_lanes == 0) return;
        align_lanes(lanes, arena.starts_wide() ? 1 : 0, arena);
    }

    /// Align the pairs of similar sequences, and remove them from the lanes.
    void align_similar(Lanes &lanes, UnitArena &arena) {
        int left = 0;
        for (int l = 0; l < lanes.unit.n_lanes; ++l) {
            if (align_similar(lanes.pair[l], similar_bytes_, arena)) continue;
            lanes.pair[left] = lanes.pair[l];
            lanes.query_in_rows[left] = lanes.query_in_rows[l];
            lanes.unit.lane[left++] = lanes.unit.lane[l];
        }
        lanes.unit.n_lanes = left;
    }

    bool align_similar(int64_t pair, int64_t memory_bytes, UnitArena &arena) {
        const bool query_in_rows = query_in_rows_alone(request_, pair);
        LaneResult result;
        if (!kernels_.run_similar(oriented_(query_in_rows), lane_pair(request_, pair, query_in_rows), {memory_bytes},
                                  arena.scratch, result))
            return false;
        keep(pair, query_in_rows, result, arena.paths);
        return true;
    }

    void align_lanes(const Lanes &lanes, int width, UnitArena &arena) {
        const int saturated = run_widths(
            kernels_, oriented_sweep_(lanes.query_in_rows[0]), lanes.unit, width, arena.scratch,
            [&](int l, const LaneResult &result) { keep(lanes.pair[l], lanes.query_in_rows[l], result, arena.paths); });
        if (width > 0 || !fits(sweep_, kernels_.lanes[0]->bits)) return;
        if (saturated * 2 > lanes.unit.n_lanes) ++arena.saturated_streak;
        else arena.saturated_streak = 0;
    }

    void align_long(int64_t pair, const Poll &poll) {
        const int64_t for_waves = std::min(rows_.path_bytes / 2, kMostSimilarBytes);
        const bool is_done = align_similar(pair, for_waves, arenas_[0]);
        arenas_[0].scratch = UnitScratch();
        out_.finished = !is_stopped_;
        if (is_done || is_stopped_) return;
        const bool query_in_rows = query_in_rows_alone(request_, pair);
        const LanePair lanes = lane_pair(request_, pair, query_in_rows);
        LaneResult result{};
        Buffer<uint32_t> path;
        const int64_t memory = std::max<int64_t>(rows_.path_bytes, 0);
        out_.finished = kernels_.run_long(oriented_(query_in_rows), lanes, n_threads_, memory, poll, result, path);
        if (out_.finished) keep(pair, query_in_rows, result, arenas_[0].paths);
    }

    /// Return the index in the tile of a pair in request_.
    int64_t number_of(int64_t pair) const { return number_.empty() ? pair : number_[pair]; }

    /// Store the result of pair `left` of request_.
    void keep(int64_t left, bool query_in_rows, const LaneResult &r, PathStore &paths) {
        rows_.keep(number_of(left), query_in_rows, r, paths);
    }

    const Kernels &kernels_;
    const Scoring &scoring_;
    const Scoring sweep_;  // for units: without a traceback if all starts are known
    const OrientedScoring oriented_, oriented_sweep_;
    const TileRequest &asked_;
    TileRequest request_;                                     // all pairs, then those that are not done yet
    std::vector<int64_t> number_, rest_query_, rest_target_;  // their indices in the tile, and their sequences
    const int n_threads_;
    std::vector<UnitArena> arenas_;
    int64_t similar_bytes_ = 0;
    std::atomic<int64_t> n_done_{0};
    std::atomic<bool> is_stopped_{false};
    size_t taken_ = 0;  // bytes that each thread's buffers take
    KeptRows rows_;
    TileColumns &out_ = rows_.columns;
};

}  // namespace

TileColumns align_tile(const Kernels &kernels, const Scoring &scoring, const TileRequest &request, const Poll &poll) {
    keep_at_most(static_cast<size_t>(request.memory_bytes / kKeptShare));
    return TileRun(kernels, scoring, request).run(poll);
}

}  // namespace tropalign
