#include "corridor.hpp"

#include <algorithm>
#include <cmath>

#include "../simd/dispatch.hpp"

namespace tropalign {

TROPALIGN_DISPATCH(CorridorKernels, corridor_kernels)

namespace {

/// Units of a score per factor of e, and what the rows of a block may add at most, from 0 on: what is exp(-16) of the
/// best cell's weight is still told apart.
constexpr double kUnits = 8, kMostGrowth = 110;
constexpr int kLowest = -128;

}  // namespace

CorridorModel corridor_model(const PosteriorModel &model, double slack) {
    CorridorModel corridor{};
    double highest = 0;
    for (int a = 0; a < kPosteriorPad; ++a)
        for (int b = 0; b < kPosteriorPad; ++b)
            if (model.boltzmann[a][b] > 0) highest = std::max(highest, std::log(model.boltzmann[a][b]));
    const double units = std::min(kUnits, kMostGrowth / kCorridorRows / std::max(highest, 1e-3));
    auto in_units = [&](double score, int most) {
        return static_cast<int8_t>(std::clamp<double>(std::round(units * score), kLowest, most));
    };
    for (int a = 0; a < 32; ++a)
        for (int b = 0; b < 32; ++b) {
            const bool is_known = a != kPosteriorPad && b != kPosteriorPad && model.boltzmann[a][b] > 0;
            corridor.scores[a][b] = is_known ? in_units(std::log(model.boltzmann[a][b]), 127) : kLowest;
        }
    // A gap that costs nothing would leave no end to it.
    corridor.open = in_units(std::log(model.gap_open), 0);
    corridor.extend = in_units(std::log(model.gap_extend), -1);
    corridor.slack = in_units(slack, 100);
    return corridor;
}

int32_t CorridorUnit::longest_x() const {
    int32_t longest = 0;
    for (int p = 0; p < n_parts; ++p) longest = std::max(longest, parts[p].m);
    return longest;
}

int32_t CorridorUnit::longest_y() const {
    int32_t longest = 0;
    for (int p = 0; p < n_parts; ++p)
        longest = std::max(longest, *std::max_element(parts[p].n, parts[p].n + parts[p].n_lanes));
    return longest;
}

size_t corridor_bytes(int32_t m, int32_t N, int lanes) {
    const size_t columns = static_cast<size_t>(N) + 1, n_boundaries = static_cast<size_t>(m) / kCorridorRows + 2;
    // letters, profile, rows, kept, up, ends, steps
    const size_t vectors = columns * (1 + 32 + kCorridorRows + 2 * n_boundaries + 2 + 2) + 3 * n_boundaries;
    const size_t bytes = vectors * static_cast<size_t>(lanes) + columns * sizeof(uint64_t);
    return bytes + bytes / 8 + 64 * static_cast<size_t>(CorridorBuffer::count);
}

std::vector<PosteriorSpan> corridor_of(const CorridorUnit &unit, const Crossings &crossings, int lane) {
    const CorridorUnit::Part &part = unit.parts[lane / kPartLanes];
    const int32_t n = part.n[lane % kPartLanes];
    const auto n_blocks = (static_cast<size_t>(part.m) + kCorridorRows - 1) / kCorridorRows;
    std::vector<PosteriorSpan> spans(n_blocks);
    // A block without a crossing above it is before the first match, or behind the last one; below it likewise.
    auto crossing = [&](const std::vector<int32_t> &columns, size_t boundary, int32_t otherwise) {
        if (boundary == 0 || boundary == n_blocks) return otherwise;
        const int32_t found = columns[boundary * kCorridorLanes + static_cast<size_t>(lane)];
        return found == Crossings::kNone ? otherwise : found;
    };
    int32_t first = 0, last = n;
    for (size_t k = 0; k < n_blocks; ++k) spans[k].first = first = crossing(crossings.lowest, k, first);
    for (size_t k = n_blocks; k-- > 0;) spans[k].last = last = crossing(crossings.highest, k + 1, last);
    first = n, last = 0;
    for (size_t k = n_blocks; k-- > 0;) {
        first = std::min(first, spans[k].first);
        spans[k].first = std::max(first - kCorridorMargin, 1);
    }
    for (PosteriorSpan &span : spans) {
        last = std::max(last, span.last);
        span.last = std::min(last + kCorridorMargin, n);
    }
    spans.back().last = n;
    return spans;
}

}  // namespace tropalign
