#include "piece_tile.hpp"

#include <new>
#include <numeric>

#include "../compute/parallel.hpp"
#include "../simd/dispatch.hpp"
#include "cpu_plan.hpp"
#include "kept_rows.hpp"

namespace tropalign {

TROPALIGN_DISPATCH_LOOKUPS(PieceKernels, piece_kernels)

namespace {

/// Threads take pairs in runs of up to 16, as long as each gets 32 runs.
constexpr int64_t kPairRunsPerThread = 32, kMostPairsPerRun = 16;

/// Memory that a tile may always take: directions of up to this size are kept all at once.
constexpr size_t kLeastBytes = size_t{24} << 20;

struct PieceArena {
    UnitScratch scratch;
    PathStore paths;
};

/// Return the indices of the pairs, those with the most cells first, so that threads end together.
std::vector<int64_t> longest_first(const TileRequest &request) {
    std::vector<int64_t> order(request.n_pairs);
    std::iota(order.begin(), order.end(), int64_t{0});
    auto cells = [&](int64_t pair) {
        const LanePair lanes = lane_pair(request, pair, true);
        return int64_t{lanes.rows.length} * lanes.columns.length;
    };
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return cells(a) > cells(b); });
    return order;
}

/// Align each pair by align_one(pair, query_in_rows, lanes, scratch, result) over threads.
template <class AlignOne>
TileColumns align_each(const PieceKernels &kernels, const PieceScoring &scoring, const TileRequest &request,
                       const Poll &poll, AlignOne align_one) {
    const std::vector<int64_t> order = longest_first(request);
    size_t most_bytes = 1;
    for (const int64_t pair : order)
        most_bytes =
            std::max(most_bytes, kernels.bytes(scoring, lane_pair(request, pair, query_in_rows_alone(request, pair))));
    if (most_bytes > std::max(kLeastBytes, static_cast<size_t>(request.memory_bytes))) throw std::bad_alloc();
    const auto n_threads = static_cast<int>(
        std::clamp<int64_t>(request.memory_bytes / static_cast<int64_t>(most_bytes), 1, request.n_threads));
    KeptRows rows(scoring.letters(true).depth, request.n_pairs, request.memory_bytes);
    std::atomic<bool> is_stopped{false};
    std::vector<PieceArena> arenas(n_threads);
    for (PieceArena &arena : arenas) {
        arena.scratch = UnitScratch(most_bytes);
        arena.scratch.stop_wanted = [&] { return is_stopped.load(std::memory_order_relaxed); };
    }
    const int64_t at_once =
        std::clamp<int64_t>(request.n_pairs / (kPairRunsPerThread * n_threads), 1, kMostPairsPerRun);
    auto align = [&](int thread, int64_t k) {
        const int64_t pair = order[k];
        const bool query_in_rows = query_in_rows_alone(request, pair);
        LaneResult result{};
        align_one(pair, query_in_rows, lane_pair(request, pair, query_in_rows), arenas[thread].scratch, result);
        if (!is_stopped) rows.keep(pair, query_in_rows, result, arenas[thread].paths);
    };
    rows.columns.finished = parallel(n_threads, request.n_pairs, at_once, align, [&](int64_t begun) {
        if (!poll(begun)) is_stopped = true;
        return !is_stopped.load();
    });
    for (const PieceArena &arena : arenas) {
        rows.columns.useful_cells += arena.scratch.useful_cells;
        rows.columns.swept_cells += arena.scratch.swept_cells;
        rows.columns.unit_bytes += arena.scratch.most_bytes();
    }
    return rows.take();
}

}  // namespace

TileColumns align_pieces(const PieceKernels &kernels, const PieceScoring &scoring, const TileRequest &request,
                         const Poll &poll) {
    return align_each(
        kernels, scoring, request, poll,
        [&](int64_t, bool query_in_rows, const LanePair &lanes, UnitScratch &scratch, LaneResult &result) {
            kernels.run(scoring, query_in_rows, lanes, nullptr, scratch, result);
        });
}

TileColumns align_next(const PieceKernels &kernels, const PieceScoring &scoring, const PieceScoring &scores,
                       const TileRequest &request, const NextRequest &next, const Poll &poll) {
    auto align = [&](int64_t pair, bool query_in_rows, const LanePair &lanes, UnitScratch &scratch,
                     LaneResult &result) {
        const TakenPairs taken(next.taken, pair, query_in_rows);
        // Most pairs have no other alignment that is good enough, and a score takes less time than a path.
        kernels.run(scores, query_in_rows, lanes, &taken, scratch, result);
        if (result.score < next.least[pair]) result = LaneResult{};
        else if (scoring.letters(true).depth != Depth::score)
            kernels.run(scoring, query_in_rows, lanes, &taken, scratch, result);
    };
    return align_each(kernels, scoring, request, poll, align);
}

}  // namespace tropalign
