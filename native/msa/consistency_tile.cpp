#include "consistency_tile.hpp"

#include <algorithm>

#define TROPALIGN_TABLE_TYPE ConsistencyKernels
#define TROPALIGN_TABLE consistency_kernels
#define TROPALIGN_SELECTED selected_consistency_kernels
#include "../compute/dispatch.hpp"

namespace tropalign {
namespace {

/// Wider gaps between elements end a window. At least kSumColumns, so that 16 columns never meet two windows.
constexpr int32_t kGapColumns = 32;
constexpr uint32_t kZeros = kSumColumns - 1;  // between windows

int16_t weighted(uint16_t value, int32_t weight) {
    return static_cast<int16_t>((value * weight + (1 << 14)) >> 15);
}

}  // namespace

StepRows StepMaker::make(int32_t n_rows, const std::vector<Between> &block) {
    size_t n_elements = 0;
    for (const Between &z : block)
        if (z.rows.starts) n_elements += z.rows.starts[n_rows];
    if (steps_.size() < n_elements) steps_.resize(n_elements);
    starts_.resize(n_rows + size_t{1});
    Step *step = steps_.data();
    for (int32_t i = 0; i < n_rows; ++i) {
        starts_[i] = static_cast<uint32_t>(step - steps_.data());
        for (const Between &z : block) {
            if (!z.rows.starts) continue;
            for (uint32_t e = z.rows.starts[i], end = z.rows.starts[i + 1]; e < end;) {
                const uint32_t k = z.rows.columns[e], twin = k / 2;
                Step made{z.first_twin + twin, 0, 0};
                (k % 2 ? made.odd : made.even) = weighted(z.rows.values[e], z.weight);
                if (++e < end && z.rows.columns[e] / 2u == twin) made.odd = weighted(z.rows.values[e++], z.weight);
                *step = made;
                step += (made.even | made.odd) != 0;
            }
        }
    }
    starts_[n_rows] = static_cast<uint32_t>(step - steps_.data());
    return {starts_.data(), steps_.data()};
}

uint32_t WindowMaker::room_for(uint32_t n_couples) {
    const uint32_t begin = n_couples_;
    n_couples_ += n_couples;
    if (couples_.size() < n_couples_ + kSumColumns) couples_.resize(2 * size_t{n_couples_} + kSumColumns);
    std::fill_n(couples_.data() + begin, n_couples, 0);
    return begin;
}

void WindowMaker::add_twin(const SparseRows &rows, int32_t twin, uint32_t number) {
    windows_[number] = {0, 0, 0, 0};
    uint32_t at[2] = {rows.starts[2 * twin], rows.starts[2 * twin + 1]};
    const uint32_t end[2] = {at[1], 2 * twin + 2 <= rows.n_rows ? rows.starts[2 * twin + 2] : at[1]};
    for (bool is_first = true; at[0] < end[0] || at[1] < end[1]; is_first = false) {
        int32_t first = INT32_MAX;
        for (int side : {0, 1})
            if (at[side] < end[side]) first = std::min<int32_t>(first, rows.columns[at[side]]);
        uint32_t till[2] = {at[0], at[1]};
        int32_t last = first;
        for (bool grows = true; grows;) {
            grows = false;
            for (int side : {0, 1})
                for (; till[side] < end[side] && rows.columns[till[side]] <= last + kGapColumns; ++till[side]) {
                    last = std::max<int32_t>(last, rows.columns[till[side]]);
                    grows = true;
                }
        }
        const auto width = static_cast<uint32_t>(last - first + 1);
        const uint32_t begin = room_for(width + kZeros) - kZeros;  // the zeros before it are there
        auto *values = reinterpret_cast<int16_t *>(couples_.data() + begin + kZeros);
        for (int side : {0, 1})
            for (; at[side] < till[side]; ++at[side])
                values[2 * (rows.columns[at[side]] - first) + side] = static_cast<int16_t>(rows.values[at[side]]);
        const Window made{begin, first - static_cast<int32_t>(kZeros), width + kZeros, 0};
        if (is_first) {
            windows_[number] = made;
        } else {
            windows_[number].next = static_cast<uint32_t>(windows_.size());
            number = windows_[number].next;
            windows_.push_back(made);
        }
    }
}

TwinWindows WindowMaker::make(uint32_t n_twins, const std::vector<Between> &block) {
    windows_.assign(n_twins, {0, 0, 0, 0});
    n_couples_ = 0;
    room_for(kZeros);
    for (const Between &z : block)
        if (z.rows.starts)
            for (int32_t twin = 0; twin < z.n_twins; ++twin) add_twin(z.rows, twin, z.first_twin + twin);
    return {windows_.data(), couples_.data()};
}

}  // namespace tropalign
