#include "envelope.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <string_view>
#include <vector>

#include "../compute/scratch.hpp"
#include "../simd/denormals.hpp"
#include "../simd/dispatch.hpp"
#include "envelope_kernels.hpp"
#include "full_matrix.hpp"
#include "search_model.hpp"

namespace tropalign {

// Which envelopes of a model are computed side by side.

/// The next `n` envelopes, in vectors of 1 << `log_width` quads.
struct UnitPlan {
    int32_t n, log_width;
};

/// Units for envelopes of descending lengths, so that they cost least in all: `cost(n_rows, log_width)` for one of as
/// many rows as its longest envelope has. The widest vectors have 1 << `most_log_width` quads.
template <class Cost>
std::vector<UnitPlan> plan_units(std::span<const int32_t> lengths, int most_log_width, const Cost &cost) {
    const auto n = static_cast<int32_t>(lengths.size());
    std::vector<float> least(n + 1);  // from envelope k on
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

TROPALIGN_DISPATCH(EnvelopeKernels, envelope_kernels)

namespace {

enum class EnvelopeSlot { cells, choices, specials, rows, count };

/// What a thread keeps from one unit to the next.
struct EnvelopeWork {
    Scratch<EnvelopeSlot> memory{kUnitBytes};
    std::vector<PathStep> path;
};

/// Numbers of bytes of a unit's pieces of memory.
struct UnitBytes {
    size_t cells, choices, specials, rows;
    size_t all() const { return cells + choices + specials + rows; }
};
UnitBytes bytes_of(int32_t Q, int32_t n_rows, int width) {
    const size_t rows = static_cast<size_t>(n_rows) + 1, vector = sizeof(float) * kQuad * width, quads = Q;
    return {rows * quads * 2 * vector, rows * quads * kChoices * choice_bytes(width), rows * kLaneSpecials * vector,
            kWorkRows * quads * vector};
}

/// What a unit costs beside a row of one envelope, measured with AVX-512 and models of 70 to 2,000 nodes: long rows
/// leave the first caches, large units the last one.
float cost_of(int32_t Q, int32_t n_rows, int log_width) {
    const size_t bytes = bytes_of(Q, n_rows, 1 << log_width).all();
    if (log_width > 0 && bytes > kUnitBytes) return std::numeric_limits<float>::infinity();
    const bool is_long = Q >= 180, is_large = bytes > size_t{12} << 20;
    const float rows[] = {1, is_long ? 1.2f : 1.15f, is_long ? (is_large ? 2.6f : 1.9f) : 1.4f};
    return rows[log_width] * static_cast<float>(n_rows);
}

/// Odds of the canonical residues become logarithms for all codes: an ambiguous one's is of the mean odds, and what is
/// no residue is as likely as by chance.
void finish_null2(std::array<float, kCodes> &odds) {
    constexpr std::string_view letters = "ACDEFGHIKLMNPQRSTVWY",
                               members[] = {"DN", "IL", "EQ", "K", "C", letters};  // B J Z O U X
    for (size_t a = 0; a < std::size(members); ++a) {
        float sum = 0;
        for (const char letter : members[a]) sum += odds[letters.find(letter)];
        odds[kResidues + 1 + a] = sum / static_cast<float>(members[a].size());
    }
    odds[kResidues] = odds[kCodes - 2] = odds[kCodes - 1] = 1;
    for (float &x : odds) x = logf(x);
}

/// Envelopes of one model, unit by unit.
class Rescoring {
  public:
    Rescoring(const SearchModel &model, const TargetBlock &block, std::span<const Envelope> envelopes,
              EnvelopeResult *out, EnvelopeWork &work)
        : model_(model), block_(block), envelopes_(envelopes), out_(out), work_(work) {}

    void run() {
        std::vector<int32_t> order(envelopes_.size()), lengths;
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return length(a) > length(b); });
        for (const int32_t k : order) lengths.push_back(length(k));
        int widest = 2;
        while (!kernels_->rescore[widest]) --widest;
        const auto cost = [&](int32_t n_rows, int log_width) { return cost_of(model_.floats().Q, n_rows, log_width); };
        const int32_t *next = order.data();
        for (const UnitPlan &plan : plan_units(lengths, widest, cost)) {
            compute({next, static_cast<size_t>(plan.n)}, plan.log_width);
            next += plan.n;
        }
    }

  private:
    int32_t length(int32_t k) const { return envelopes_[k].end - envelopes_[k].begin; }
    const uint8_t *codes(int32_t k) const { return block_.codes(envelopes_[k].target) + envelopes_[k].begin; }

    void compute(std::span<const int32_t> chosen, int log_width) {
        const int width = 1 << log_width;
        EnvelopeUnit unit = unit_of(chosen, width);
        kernels_->rescore[log_width](unit);
        for (int lane = 0; lane < unit.n_lanes; ++lane) finish(unit, lane, width, chosen[lane]);
    }

    EnvelopeUnit unit_of(std::span<const int32_t> chosen, int width) {
        EnvelopeUnit unit{};
        unit.tables = &model_.floats(), unit.masks = &model_.path_masks();
        unit.n_lanes = static_cast<int32_t>(chosen.size()), unit.n_rows = length(chosen[0]);
        for (int lane = 0; lane < unit.n_lanes; ++lane) {
            const int32_t k = chosen[lane];
            const ModeOdds odds = unihit_odds(block_.length(envelopes_[k].target));
            out_[k] = {};
            unit.lanes[lane] = {codes(k), length(k), odds.loop, odds.move, 0, 0, false, 0, 0, nullptr};
            unit.lanes[lane].null2 = envelopes_[k].with_null2 ? out_[k].null2.data() : nullptr;
        }
        const UnitBytes sizes = bytes_of(unit.tables->Q, unit.n_rows, width);
        work_.memory.begin(sizes.all());
        const auto floats = [&](EnvelopeSlot slot, size_t bytes) {
            return static_cast<float *>(work_.memory.get(slot, bytes));
        };
        unit.cells = floats(EnvelopeSlot::cells, sizes.cells);
        unit.choices = static_cast<uint8_t *>(work_.memory.get(EnvelopeSlot::choices, sizes.choices));
        unit.specials = floats(EnvelopeSlot::specials, sizes.specials);
        unit.rows = floats(EnvelopeSlot::rows, sizes.rows);
        return unit;
    }

    void finish(const EnvelopeUnit &unit, int lane, int width, int32_t k) {
        const EnvelopeLane &found = unit.lanes[lane];
        EnvelopeResult &result = out_[k];
        DomainHit &hit = result.hit;
        hit.envelope_begin = envelopes_[k].begin, hit.envelope_end = envelopes_[k].end;
        hit.envelope_nats = found.nats;
        result.is_dropped = !found.in_range;
        if (result.is_dropped) {
            result.null2 = {};
            return;
        }
        hit.expected_accuracy = found.accuracy;
        walk_back(unit, lane, width, work_.path);
        write_lines(model_.plain(), found.codes, work_.path, envelopes_[k].begin, hit);
        if (!found.null2) return;
        finish_null2(result.null2);
        for (int32_t i = 0; i < found.L; ++i) hit.correction_nats += result.null2[found.codes[i]];
    }

    const SearchModel &model_;
    const TargetBlock &block_;
    const std::span<const Envelope> envelopes_;
    EnvelopeResult *const out_;
    EnvelopeWork &work_;
    const EnvelopeKernels *const kernels_ = selected_envelope_kernels();
};

}  // namespace

size_t envelope_bytes(const SearchModel &model, int32_t L) {
    return std::max(kUnitBytes, bytes_of(model.floats().Q, L, 1).all());
}

void rescore_envelopes(const SearchModel &model, const TargetBlock &block, std::span<const Envelope> envelopes,
                       EnvelopeResult *out) {
    const DenormalsAsZero guard;
    thread_local EnvelopeWork work;
    Rescoring(model, block, envelopes, out, work).run();
}

namespace {

PathMasks make_path_masks(const FloatTables &tables) {
    const auto n = static_cast<size_t>(tables.Q);
    PathMasks made{Buffer<uint32_t>(n * PathMasks::kMasks * kQuad), Buffer<uint8_t>(n)};
    uint32_t open[kQuad] = {~0u, ~0u, ~0u, ~0u};
    for (size_t q = 0; q < n; ++q) {
        bool all = true;
        for (int which = 0; which < PathMasks::kMasks; ++which)
            for (int r = 0; r < kQuad; ++r) {
                const float odds = which == kDD ? tables.deletes.data()[q * kQuad + r]
                                                : tables.transitions.data()[(q * kDD + which) * kQuad + r];
                const uint32_t mask = which == PathMasks::kOpen ? open[r] : odds > 0 ? ~0u : 0;
                made.masks[(q * PathMasks::kMasks + which) * kQuad + r] = mask;
                all &= mask != 0;
            }
        made.all_pass[q] = all;
        for (int r = 0; r < kQuad; ++r) open[r] &= made.masks[(q * PathMasks::kMasks + kDD) * kQuad + r];
    }
    return made;
}

}  // namespace

const PathMasks &SearchModel::path_masks() const {
    return path_masks_.get([&] { return make_path_masks(floats()); });
}

}  // namespace tropalign
