#include "consistency_tile.hpp"

#include <algorithm>

#define TROPALIGN_TABLE_TYPE ConsistencyKernels
#define TROPALIGN_TABLE consistency_kernels
#define TROPALIGN_SELECTED selected_consistency_kernels
#include "../compute/dispatch.hpp"

namespace tropalign {
namespace {

int16_t weighted(uint16_t value, int32_t weight) {
    return static_cast<int16_t>((value * weight + (1 << 14)) >> 15);
}

}  // namespace

StepRows StepMaker::make(int32_t n_rows, uint32_t n_chunks, const std::vector<Between> &between) {
    size_t n_elements = 0;
    for (const Between &z : between)
        if (z.rows.starts) n_elements += z.rows.starts[n_rows];
    if (steps_.size() <= n_elements) steps_.resize(n_elements + 1);
    starts_.resize(n_rows + size_t{1});
    Step *step = steps_.data();
    for (int32_t i = 0; i < n_rows; ++i) {
        starts_[i] = static_cast<uint32_t>(step - steps_.data());
        for (const Between &z : between) {
            if (!z.rows.starts) continue;
            for (uint32_t e = z.rows.starts[i], end = z.rows.starts[i + 1]; e < end;) {
                const uint32_t k = z.rows.columns[e], twin = k / 2;
                Step made{(z.first_twin + twin) * n_chunks, 0, 0};
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

/// The block of an entry of the table, new where there was none.
int16_t *BlockMaker::block(uint32_t at) {
    if (table_[at] == 0) {
        if (couples_.size() < n_couples_ + kChunkColumns) couples_.resize(2 * couples_.size() + 1024);
        std::fill_n(couples_.data() + n_couples_, kChunkColumns, 0);
        table_[at] = n_couples_;
        filled_.push_back(at);
        n_couples_ += kChunkColumns;
    }
    return reinterpret_cast<int16_t *>(couples_.data() + table_[at]);
}

TwinBlocks BlockMaker::make(uint32_t n_twins, uint32_t n_chunks, const std::vector<Between> &between) {
    for (const uint32_t at : filled_) table_[at] = 0;
    filled_.clear();
    if (table_.size() < size_t{n_twins} * n_chunks) table_.resize(size_t{n_twins} * n_chunks);
    if (couples_.size() < kChunkColumns) couples_.resize(kChunkColumns);
    n_couples_ = kChunkColumns;
    for (const Between &z : between) {
        if (!z.rows.starts) continue;
        for (int32_t k = 0; k < z.rows.n_rows; ++k) {
            const uint32_t row = (z.first_twin + static_cast<uint32_t>(k) / 2) * n_chunks;
            for (uint32_t e = z.rows.starts[k]; e < z.rows.starts[k + 1]; ++e) {
                const uint32_t j = z.rows.columns[e];
                block(row + j / kChunkColumns)[2 * (j % kChunkColumns) + k % 2] = static_cast<int16_t>(z.rows.values[e]);
            }
        }
    }
    return {table_.data(), couples_.data()};
}

}  // namespace tropalign
