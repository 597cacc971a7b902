#include "table_tile.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "../compute/parallel.hpp"
#include "../simd/dispatch.hpp"
#include "cpu_plan.hpp"
#include "kept_rows.hpp"

namespace tropalign {

TROPALIGN_DISPATCH_LOOKUPS(TableKernels, table_kernels)

namespace {

/// Highest absolute value of a sum over a path; twice this fits 32 bits.
constexpr double kMostSum = 1 << 30;
/// Numbers of float32 have 24 bits: finer units would not be more exact.
constexpr int kMostBits = 24;
constexpr double kLeastExponent = -126;  // the factor, its inverse, is a float

/// Return the unit of which scores become multiples, for sums of absolute value `most`.
double unit_of(const TableView &table, int64_t pair, double highest, double most) {
    const std::string name = "table " + std::to_string(pair);
    if (!std::isfinite(highest)) throw std::invalid_argument(name + ": a score is not finite");
    if (table.type == TableType::float32) {
        if (most == 0) return std::exp2(kLeastExponent);  // every score below 0 is worse than gaps
        return std::exp2(std::max(
            {std::ceil(std::log2(most / kMostSum)), std::floor(std::log2(highest)) - kMostBits, kLeastExponent}));
    }
    if (most > kMostSum) throw std::invalid_argument(name + ": scores may exceed 32 bits");
    return 1;
}

/// Return a bound of the absolute values in a sweep: a path has at most as many pairs as the shorter sequence has
/// residues; the other terms are costs, and what the sums of a sweep add (sweep.hpp). Costs that no local alignment can
/// make up for are lowered, so that they do not make the unit coarse.
double most_sum(Mode mode, const LanePair &lanes, double highest, double &open, double &extend) {
    const double longer = lanes.rows.length, shorter = lanes.columns.length, pairs = highest * (shorter + 1);
    switch (mode) {
        case Mode::local:
            open = std::min(open, pairs), extend = std::min(extend, pairs);
            return pairs + open + 2 * extend;
        case Mode::global:
            return pairs + 4 * open + 2 * extend * (longer + shorter + 2);
    }
    __builtin_unreachable();
}

}  // namespace

TablePair table_pair(const TableRequest &request, int64_t k, double highest) {
    const bool query_in_rows = query_in_rows_alone(request.pairs, k);
    const TableView &table = request.tables[k];
    const LanePair lanes = lane_pair(request.pairs, k, query_in_rows);
    double open = request.open, extend = request.extend;
    const double most = most_sum(request.mode, lanes, highest, open, extend);
    const double unit = unit_of(table, k, highest, most);
    const auto whole = [&](double value) { return static_cast<int32_t>(std::lround(value / unit)); };
    return {table, lanes,          query_in_rows, request.mode,  request.depth,
            unit,  whole(highest), whole(open),   whole(extend), request.most};
}

TableRows align_tables(const TableKernels &kernels, const TableRequest &request, const Poll &poll) {
    const TileRequest &pairs = request.pairs;
    std::vector<TableAlignments> found(pairs.n_pairs);
    std::atomic<bool> is_stopped{false};
    const bool together = pairs.n_pairs < pairs.n_threads;  // all threads for one pair after the other
    auto align = [&](int, int64_t k) {
        auto may_go_on = [&](int64_t) { return !is_stopped.load(); };
        const Poll go_on = together ? Poll([&](int64_t) { return poll(k); }) : Poll(may_go_on);
        if (!kernels.run(request, k, together ? pairs.n_threads : 1, go_on, found[k])) is_stopped = true;
    };
    if (together) {
        for (int64_t k = 0; k < pairs.n_pairs && !is_stopped; ++k) align(0, k);
    } else {
        parallel(pairs.n_threads, pairs.n_pairs, 1, align, [&](int64_t begun) {
            if (!poll(begun)) is_stopped = true;
            return !is_stopped.load();
        });
    }
    TableRows rows;
    rows.columns.finished = !is_stopped;
    if (is_stopped) return rows;
    for (int64_t k = 0; k < pairs.n_pairs; ++k)
        for (size_t n = 0; n < found[k].rows.size(); ++n) {
            rows.pair.push_back(k), rows.rank.push_back(static_cast<int32_t>(n) + 1);
            rows.unit.push_back(found[k].unit);
        }
    KeptRows kept(request.depth, rows.pair.size(), INT64_MAX);
    PathStore paths;
    int64_t row = 0;
    for (int64_t k = 0; k < pairs.n_pairs; ++k)
        for (const TableAlignment &one : found[k].rows)
            kept.keep(row++, query_in_rows_alone(pairs, k), one.result, paths);
    rows.columns = kept.take();
    return rows;
}

}  // namespace tropalign
