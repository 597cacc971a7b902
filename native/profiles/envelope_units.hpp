// Division of the envelopes of a model into units of minimal cost, and the memory of a unit.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "../compute/scratch.hpp"
#include "envelope.hpp"
#include "envelope_kernels.hpp"
#include "full_matrix.hpp"

namespace tropalign {

/// The next `n` envelopes, in vectors of 1 << `log_width` quads.
struct UnitPlan {
    int32_t n, log_width;
};

/// Plan units of minimal total cost for envelopes of descending lengths: `cost(n_rows, log_width)` for a unit with
/// as many rows as its longest envelope. The widest vectors have 1 << `most_log_width` quads.
template <class Cost>
std::vector<UnitPlan> plan_units(std::span<const int32_t> lengths, int most_log_width, const Cost &cost) {
    const auto n = static_cast<int32_t>(lengths.size());
    std::vector<float> least(n + 1);  // total cost from envelope k on
    std::vector<UnitPlan> best(n);
    for (int32_t k = n - 1; k >= 0; --k) {
        least[k] = cost(lengths[k], 0) + least[k + 1];
        best[k] = {1, 0};
        for (int w = 1; w <= most_log_width; ++w) {
            const float unit = cost(lengths[k], w);
            for (int32_t m = 2; m <= 1 << w && k + m <= n; ++m)
                if (unit + least[k + m] < least[k]) least[k] = unit + least[k + m], best[k] = {m, w};
        }
    }
    std::vector<UnitPlan> plan;
    for (int32_t k = 0; k < n; k += plan.back().n) plan.push_back(best[k]);
    return plan;
}

enum class EnvelopeSlot { cells, choices, specials, rows, count };

/// Memory that a thread keeps from one unit to the next.
struct EnvelopeWork {
    Scratch<EnvelopeSlot> memory{kUnitBytes};
    std::vector<PathStep> path;
};

/// Sizes in bytes of a unit's arrays.
struct UnitBytes {
    size_t cells, choices, specials, rows;
    size_t all() const { return cells + choices + specials + rows; }
};
inline UnitBytes bytes_of(int32_t Q, int32_t n_rows, int width) {
    const size_t rows = static_cast<size_t>(n_rows) + 1, vector = sizeof(float) * kQuad * width, quads = Q;
    return {rows * quads * 2 * vector, rows * quads * kChoices * choice_bytes(width), rows * kLaneSpecials * vector,
            kWorkRows * quads * vector};
}

/// Return the cost of a unit relative to a row of one envelope, measured with AVX-512 and models of 70 to 2,000
/// nodes: long rows exceed the first caches, large units the last one.
inline float cost_of(int32_t Q, int32_t n_rows, int log_width) {
    const size_t bytes = bytes_of(Q, n_rows, 1 << log_width).all();
    if (log_width > 0 && bytes > kUnitBytes) return std::numeric_limits<float>::infinity();
    const bool is_long = Q >= 180, is_large = bytes > size_t{12} << 20;
    const float rows[] = {1, is_long ? 1.2f : 1.15f, is_long ? (is_large ? 2.6f : 1.9f) : 1.4f};
    return rows[log_width] * static_cast<float>(n_rows);
}

/// Compute all envelopes by the kernels, unit by unit, and call `finish(unit, lane, width, k)` for each, which
/// reads the results of envelopes[k] there. `null2_of(k)`: where its odds under null2 go, or nullptr.
template <class Null2Of, class Finish>
void compute_envelopes(const SearchModel &model, const TargetBlock &block, std::span<const Envelope> envelopes,
                       EnvelopeWork &work, const Null2Of &null2_of, const Finish &finish) {
    const EnvelopeKernels &kernels = *selected_envelope_kernels();
    const auto length = [&](int32_t k) { return envelopes[k].end - envelopes[k].begin; };
    std::vector<int32_t> order(envelopes.size()), lengths;
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return length(a) > length(b); });
    for (const int32_t k : order) lengths.push_back(length(k));
    int widest = 2;
    while (!kernels.rescore[widest]) --widest;
    const int32_t Q = model.floats().Q;
    const int32_t *next = order.data();
    for (const UnitPlan &plan : plan_units(lengths, widest, [&](int32_t n, int w) { return cost_of(Q, n, w); })) {
        const int width = 1 << plan.log_width;
        EnvelopeUnit unit{};
        unit.tables = &model.floats(), unit.masks = &model.path_masks();
        unit.n_lanes = plan.n, unit.n_rows = length(next[0]);
        for (int lane = 0; lane < plan.n; ++lane) {
            const Envelope &own = envelopes[next[lane]];
            const ModeOdds odds = unihit_odds(block.length(own.target));
            EnvelopeLane &to = unit.lanes[lane];
            to = {};
            to.codes = block.codes(own.target) + own.begin, to.L = own.end - own.begin;
            to.loop = odds.loop, to.move = odds.move, to.null2 = null2_of(next[lane]);
        }
        const UnitBytes sizes = bytes_of(Q, unit.n_rows, width);
        work.memory.begin(sizes.all());
        const auto floats = [&](EnvelopeSlot slot, size_t bytes) {
            return static_cast<float *>(work.memory.get(slot, bytes));
        };
        unit.cells = floats(EnvelopeSlot::cells, sizes.cells);
        unit.choices = static_cast<uint8_t *>(work.memory.get(EnvelopeSlot::choices, sizes.choices));
        unit.specials = floats(EnvelopeSlot::specials, sizes.specials);
        unit.rows = floats(EnvelopeSlot::rows, sizes.rows);
        kernels.rescore[plan.log_width](unit);
        for (int lane = 0; lane < plan.n; ++lane) finish(unit, lane, width, next[lane]);
        next += plan.n;
    }
}

}  // namespace tropalign
