// The highest M of many targets, by lanes or by stripes.
#include <algorithm>
#include <array>

#include "../compute/scratch.hpp"
#include "msv.hpp"

namespace tropalign {
namespace {

constexpr uint8_t kNone = 255;  // cost of codes and positions without a residue or a node

MsvTables make_msv_tables(const ProfileModel &model) {
    MsvTables tables{selected_msv_kernels(), model.M, model.bias, model.end, {}, 0, {}};
    const auto cost = [&](int code, int32_t node) {
        return node < model.M ? model.byte_cost[static_cast<size_t>(code) * (model.M + 1) + node + 1] : kNone;
    };
    tables.nodes.resize(static_cast<size_t>(model.M));
    for (int32_t k = 0; k < model.M; ++k)
        for (int code = 0; code < 32; ++code) tables.nodes[k].of[code] = code < kCodes ? cost(code, k) : kNone;

    const int32_t lanes = tables.kernels->vector_bytes, Q = (model.M + lanes - 1) / lanes;
    tables.Q = Q;
    tables.stripes.resize((static_cast<size_t>(kCodes) * Q * lanes + sizeof(ByteCosts) - 1) / sizeof(ByteCosts));
    uint8_t *out = tables.stripes.front().of;
    for (int code = 0; code < kCodes; ++code)
        for (int32_t q = 0; q < Q; ++q)
            for (int32_t l = 0; l < lanes; ++l) *out++ = cost(code, l * Q + q);
    return tables;
}

enum class MsvSlot { codes, state, count };

Scratch<MsvSlot> &msv_scratch() {
    thread_local Scratch<MsvSlot> kept;
    return kept;
}

bool is_faster_in_lanes(const MsvTables &tables, int64_t n_rows, int64_t n_residues) {
    const MsvKernels &kernels = *tables.kernels;
    const float stripes = std::max(kernels.stripe_cycles * static_cast<float>(tables.Q), kernels.least_stripes_cycles);
    return static_cast<float>(n_rows) * kernels.lanes_cycles * static_cast<float>(tables.M) <
           static_cast<float>(n_residues) * stripes;
}

/// Process up to 64 targets.
void highest_of_some(const MsvTables &tables, const TargetBlock &block, Targets targets, const uint8_t *enter,
                     uint8_t *highest) {
    int64_t n_residues = 0;
    int32_t n_rows = 0;
    for (const int32_t k : targets) {
        n_residues += block.length(k);
        n_rows = std::max(n_rows, block.length(k));
    }
    const size_t codes_size = static_cast<size_t>(n_rows) * kGroupTargets;
    const size_t state_size = static_cast<size_t>(tables.M + 63) * kGroupTargets;
    msv_scratch().begin(Scratch<MsvSlot>::taken(codes_size) + Scratch<MsvSlot>::taken(state_size));
    auto *state = static_cast<uint8_t *>(msv_scratch().get(MsvSlot::state, state_size));
    if (!is_faster_in_lanes(tables, n_rows, n_residues)) {
        for (size_t at = 0; at < targets.size(); ++at) {
            const int32_t k = targets[at];
            highest[at] = tables.kernels->striped(tables, block.codes(k), block.length(k), enter[at], state);
        }
        return;
    }
    auto *codes = static_cast<uint8_t *>(msv_scratch().get(MsvSlot::codes, codes_size));
    interleave(block, targets, n_rows, codes);
    alignas(64) std::array<uint8_t, kGroupTargets> enters{}, found;
    std::copy_n(enter, targets.size(), enters.begin());
    tables.kernels->lanes(tables, {codes, n_rows, n_residues}, enters.data(), state, found.data());
    std::copy_n(found.begin(), targets.size(), highest);
}

}  // namespace

const MsvTables &SearchModel::msv() const {
    return msv_.get([&] { return make_msv_tables(plain_); });
}

void msv_highest(const SearchModel &model, const TargetBlock &block, Targets targets, const uint8_t *enter,
                 uint8_t *highest) {
    for (size_t at = 0; at < targets.size(); at += kGroupTargets) {
        const size_t n = std::min<size_t>(kGroupTargets, targets.size() - at);
        highest_of_some(model.msv(), block, targets.subspan(at, n), enter + at, highest + at);
    }
}

}  // namespace tropalign
