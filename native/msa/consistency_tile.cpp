#include "consistency_tile.hpp"

#include <algorithm>
#include <stdexcept>

#include "../simd/dispatch.hpp"

namespace tropalign {

TROPALIGN_DISPATCH(ConsistencyKernels, consistency_kernels)

namespace {

uint32_t weighted(uint16_t value, int32_t weight) {
    return (static_cast<uint32_t>(value) * static_cast<uint32_t>(weight) + (1u << 14)) >> 15;
}

}  // namespace

StepRows StepMaker::make(int32_t n_rows, uint32_t n_chunks, const std::vector<Between> &between) {
    // A row has room for a step per element.
    begins_.assign(n_rows + size_t{1}, 0);
    for (const Between &z : between)
        if (z.rows.starts)
            for (int32_t i = 0; i <= n_rows; ++i) begins_[i] += z.rows.starts[i];
    ends_ = begins_;
    if (steps_.size() < begins_[n_rows]) steps_.resize(begins_[n_rows]);
    for (const Between &z : between) {
        if (!z.rows.starts) continue;
        for (int32_t i = 0; i < n_rows; ++i) {
            Step *step = steps_.data() + ends_[i];  // the next one
            uint32_t before = 0, values = 0;        // column plus one, and both values as a number
            for (uint32_t e = z.rows.starts[i]; e < z.rows.starts[i + 1]; ++e) {
                const uint32_t k = z.rows.columns[e];
                const uint32_t value = weighted(z.rows.values[e], z.weight) << 16 * (k % 2);
                const bool joins = k % 2 && before == k;  // the previous element is in the even row of the same twin
                values = joins ? values | value : value;
                step -= joins;
                *step++ = {(z.first_twin + k / 2) * n_chunks, static_cast<int16_t>(values),
                           static_cast<int16_t>(values >> 16)};
                before = k + 1;
            }
            ends_[i] = static_cast<uint32_t>(step - steps_.data());
        }
    }
    return {begins_.data(), ends_.data(), steps_.data()};
}

/// Return the block of an entry of the table, allocated if it did not exist.
int16_t *BlockMaker::block(uint32_t at) {
    if (table_[at] == 0) {
        if (couples_.size() < n_couples_ + kChunkColumns) {
            if (n_couples_ > UINT32_MAX / 2)
                throw std::length_error("posteriors: a sequence has too many for one pass");
            Buffer<int32_t> larger(2 * n_couples_ + 1024 * kChunkColumns);
            std::copy_n(couples_.data(), n_couples_, larger.data());
            couples_ = std::move(larger);
        }
        std::fill_n(couples_.data() + n_couples_, kChunkColumns, 0);
        table_[at] = static_cast<uint32_t>(n_couples_);
        filled_.push_back(at);
        n_couples_ += kChunkColumns;
    }
    return reinterpret_cast<int16_t *>(couples_.data() + table_[at]);
}

TwinBlocks BlockMaker::make(uint32_t n_twins, uint32_t n_chunks, const std::vector<Between> &between) {
    for (const uint32_t at : filled_) table_[at] = 0;
    filled_.clear();
    if (table_.size() < size_t{n_twins} * n_chunks) table_.resize(size_t{n_twins} * n_chunks);
    if (couples_.size() == 0) couples_ = Buffer<int32_t>(1024 * kChunkColumns);
    std::fill_n(couples_.data(), kChunkColumns, 0);
    n_couples_ = kChunkColumns;
    for (const Between &z : between) {
        if (!z.rows.starts) continue;
        for (int32_t k = 0; k < z.rows.n_rows; ++k) {
            const uint32_t row = (z.first_twin + static_cast<uint32_t>(k) / 2) * n_chunks;
            for (uint32_t e = z.rows.starts[k]; e < z.rows.starts[k + 1]; ++e) {
                const uint32_t j = z.rows.columns[e];
                block(row + j / kChunkColumns)[2 * (j % kChunkColumns) + k % 2] =
                    static_cast<int16_t>(z.rows.values[e]);
            }
        }
    }
    return {table_.data(), couples_.data()};
}

}  // namespace tropalign
